; A function that enters a region has a version that counts and one that doesn't; behind a mark the state decides.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,trackway-count,verify' -S %s | FileCheck %s

@name = private constant [2 x i8] c"r\00"
declare void @__trackway_begin_region(ptr)
declare void @__trackway_end_region(ptr)

; Where nothing is recorded, nothing is left of the marks.
; CHECK-LABEL: define internal i32 @f.plain(ptr %p)
; CHECK-NOT: trackway
; CHECK: }

; CHECK-LABEL: define internal i32 @f.traced(ptr %p)
; CHECK: [[COUNTS:%.*]] = icmp eq i64 %{{.*}}, 2
; CHECK-NEXT: br i1 [[COUNTS]], label %[[COUNTING:.*]], label %[[PLAIN:.*]]
; The counting version: a value of either version may come from the other.
; CHECK: call void @__trackway_enter_region(
; CHECK: br i1 %{{.*}}, label %[[IN:.*]], label %[[IN_PLAIN:.*]]
; CHECK: phi i32
; CHECK: call void @__trackway_leave_region(
; The other one counts the entries down that nobody needs to be told of.
; CHECK: and i1
; CHECK: sub i64 %{{.*}}, 1
; CHECK: call void @__trackway_enter_region(
; CHECK: call void @__trackway_leave_region(
define i32 @f(ptr %p) {
  %a = load i32, ptr %p
  call void @__trackway_begin_region(ptr @name)
  store i32 %a, ptr %p
  call void @__trackway_end_region(ptr @name)
  ret i32 %a
}
