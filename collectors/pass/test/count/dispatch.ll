; The choice between the versions calls nothing, so that it saves no registers; what begins a thread stands behind it.
; One comparison leads to the plain version.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,trackway-count,verify' -S %s | FileCheck %s

define i32 @f(ptr %p) {
  %a = load i32, ptr %p
  ret i32 %a
}
; CHECK-LABEL: define i32 @f(ptr %
; CHECK: [[STATE:%.*]] = load i64
; CHECK-NEXT: [[RUNS_PLAIN:%.*]] = icmp ult i64 [[STATE]], 2
; CHECK-NEXT: br i1 [[RUNS_PLAIN]], label %run, label %other
; CHECK-NOT: __trackway_begin_counting
; CHECK: musttail call i32 @f.traced(
; CHECK-NOT: __trackway_begin_counting
; CHECK: musttail call i32 @f.plain(
; CHECK-NOT: __trackway_begin_counting
; CHECK: musttail call i32 @f.late(
; CHECK: }

; CHECK-LABEL: define internal i32 @f.late(ptr %
; CHECK: call void @__trackway_begin_counting()
; CHECK-DAG: musttail call i32 @f.traced(
; CHECK-DAG: musttail call i32 @f.plain(
; CHECK: }
