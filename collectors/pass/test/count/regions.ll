; A region that was begun ends where a way joins one on which it isn't, and with its function.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,verify' -S %s | FileCheck %s
; RUN: opt -load-pass-plugin %plugin -passes='trackway-regions,verify' -S %s | FileCheck %s --check-prefix=RECORDING

@name = private constant [2 x i8] c"r\00"
declare void @__trackway_begin_region(ptr)
declare void @__trackway_end_region(ptr)
declare i32 @setjmp(ptr) returns_twice

; CHECK-LABEL: define void @pair(
; Without counting they are marks of windows.
; RECORDING-LABEL: define void @pair(
; RECORDING-NEXT: call void @__trackway_window_enter_region(ptr @trackway.region)
; RECORDING-NEXT: call void @__trackway_window_leave_region(ptr @trackway.region)
; RECORDING-NEXT: ret void
; CHECK: call void @__trackway_enter_region(ptr @trackway.region)
; CHECK: call void @__trackway_leave_region(ptr @trackway.region)
; CHECK-NEXT: ret void
define void @pair() {
  call void @__trackway_begin_region(ptr @name)
  call void @__trackway_end_region(ptr @name)
  ret void
}

; CHECK-LABEL: define void @returns(
; CHECK: call void @__trackway_enter_region
; CHECK: early:
; CHECK-NEXT: call void @__trackway_leave_region
; CHECK-NEXT: ret void
; CHECK: late:
; CHECK-NEXT: call void @__trackway_leave_region
; CHECK-NEXT: ret void
define void @returns(i1 %c) {
  call void @__trackway_begin_region(ptr @name)
  br i1 %c, label %early, label %late
early:
  ret void
late:
  call void @__trackway_end_region(ptr @name)
  ret void
}

; `break` out of a loop leads to where the region is ended otherwise.
; CHECK-LABEL: define void @breaks(
; CHECK: loop:
; CHECK: call void @__trackway_enter_region
; CHECK: br i1 %c, label %[[BREAK:.*]], label %rest
; CHECK: [[BREAK]]:
; CHECK-NEXT: call void @__trackway_leave_region
; CHECK-NEXT: br label %exit
; CHECK: rest:
; CHECK-NEXT: call void @__trackway_leave_region
; CHECK: exit:
; CHECK-NEXT: ret void
define void @breaks(i1 %c, i1 %d) {
  br label %loop
loop:
  call void @__trackway_begin_region(ptr @name)
  br i1 %c, label %exit, label %rest
rest:
  call void @__trackway_end_region(ptr @name)
  br i1 %d, label %loop, label %exit
exit:
  ret void
}

; longjmp leaves what was entered since.
; RECORDING-LABEL: define void @jumps(
; RECORDING: call void @__trackway_window_keep_depth(ptr %trackway.depth)
; RECORDING-NEXT: call i32 @setjmp(
; RECORDING-NEXT: call void @__trackway_window_leave_since(ptr %trackway.depth)
define void @jumps(ptr %p) {
  %c = call i32 @setjmp(ptr %p)
  ret void
}
