; Calls of functions that the module doesn't define are timed now and then: four counters of each say when, and how long.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-count,verify' -S %s | FileCheck %s

declare i32 @elsewhere(i32)
declare void @other()
declare void @ends() noreturn
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define internal i32 @calls.traced(
; CHECK: store i32 %n, ptr %p
; CHECK-NEXT: [[CALLEE:%.*]] = getelementptr inbounds i64, ptr [[COUNTERS:%.*]], i64 [[INDEX:[0-9]+]]
; CHECK-NEXT: [[PASSING:%.*]] = load i64, ptr [[CALLEE]]
; CHECK-NEXT: [[LESS:%.*]] = sub i64 [[PASSING]], 1
; CHECK-NEXT: store i64 [[LESS]], ptr [[CALLEE]]
; CHECK-NEXT: [[TIMED:%.*]] = icmp eq i64 [[PASSING]], 0
; CHECK-NEXT: br i1 [[TIMED]], label %[[BEGIN:.*]], label %[[CALL:.*]], !prof
; CHECK: [[BEGIN]]:
; CHECK-NEXT: [[STARTED:%.*]] = call i64 @__trackway_begin_call(ptr [[CALLEE]])
; CHECK: [[CALL]]:
; CHECK-NEXT: [[START:%.*]] = phi i64 [ [[STARTED]], %[[BEGIN]] ], [ 0, %{{.*}} ]
; CHECK-NEXT: %a = call i32 @elsewhere(i32 %n)
; CHECK-NEXT: [[WAS:%.*]] = icmp ne i64 [[START]], 0
; CHECK-NEXT: br i1 [[WAS]], label %[[END:.*]], label %[[ON:.*]], !prof
; CHECK: [[END]]:
; CHECK-NEXT: call void @__trackway_end_call(ptr [[CALLEE]], i64 [[START]])
; Of one function, all calls of a function share them.
; CHECK: getelementptr inbounds i64, ptr [[COUNTERS]], i64 [[INDEX]]{{$}}
; CHECK: %b = call i32 @elsewhere(i32 %a)
; CHECK-NOT: i64 [[INDEX]]{{$}}
; CHECK: call void @other()
; CHECK: call void @__trackway_end_call(
define i32 @calls(i32 %n, ptr %p) {
  store i32 %n, ptr %p
  %a = call i32 @elsewhere(i32 %n)
  %b = call i32 @elsewhere(i32 %a)
  call void @other()
  ret i32 %b
}

; Behind an invoke, where it returns.
; CHECK-LABEL: define internal i32 @invokes.traced(
; CHECK: call i64 @__trackway_begin_call(
; CHECK: invoke i32 @elsewhere(
; CHECK: call void @__trackway_end_call(
; CHECK: landingpad
; CHECK-NOT: __trackway_end_call
; CHECK: }
define i32 @invokes(i32 %n, ptr %p) personality ptr @__gxx_personality_v0 {
  store i32 %n, ptr %p
  %a = invoke i32 @elsewhere(i32 %n) to label %fine unwind label %pad
fine:
  ret i32 %a
pad:
  %l = landingpad { ptr, i32 } catch ptr null
  ret i32 0
}

; What doesn't come back, or must be the last, isn't timed; nor is what this module defines.
; CHECK-LABEL: define internal i32 @last.traced(
; CHECK-NOT: _call(
; CHECK: }
define i32 @last(i32 %n, ptr %p) {
  store i32 %n, ptr %p
  %c = icmp eq i32 %n, 0
  br i1 %c, label %end, label %on
end:
  call void @ends()
  unreachable
on:
  %a = call i32 @calls(i32 %n, ptr %p)
  %b = musttail call i32 @like(i32 %a, ptr %p)
  ret i32 %b
}
declare i32 @like(i32, ptr)
