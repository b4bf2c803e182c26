; How much of a block there is to copy is found before the call, which may free it. It is copied if the block has moved.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare ptr @realloc(ptr, i64)

define ptr @grown(ptr %old, i64 %size) {
; CHECK-LABEL: define internal ptr @grown.traced(
; CHECK: [[THERE:%.*]] = call i64 @__trackway_extent_movable(ptr %old)
; CHECK-NEXT: [[NEW:%.*]] = {{.*}}call ptr @realloc(ptr %old, i64 %size)
; CHECK-NOT: @__trackway_extent_movable
; CHECK: icmp ne ptr [[NEW]], null
; CHECK: call i64 @llvm.umin.i64(i64 [[THERE]], i64 %size)
; CHECK-NOT: @__trackway_extent_movable
; CHECK: ret ptr
  %new = call ptr @realloc(ptr %old, i64 %size)
  ret ptr %new
}
