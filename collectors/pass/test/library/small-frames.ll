; Where frames are to stay small, what lives across a helper's call waits in the slots that all records share.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare i32 @strcmp(ptr, ptr)

define i32 @f(ptr %a, ptr %b) noinline optnone {
; CHECK-LABEL: define internal i32 @f.traced(
; CHECK: %trackway.slots = alloca
; CHECK: %r = {{.*}}call i32 @strcmp(ptr %p, ptr %b)
; CHECK: store i32 %r, ptr
; CHECK: [[SLOT:%.*]] = getelementptr inbounds{{.*}} i32, ptr %trackway.slots
; CHECK-NEXT: [[P:%.*]] = load ptr, ptr [[SLOT]]
; CHECK-NEXT: call i64 @__trackway_extent_mismatch(ptr [[P]], ptr %b, i64 -1)
  %p = getelementptr i8, ptr %a, i64 1
  %r = call i32 @strcmp(ptr %p, ptr %b)
  ret i32 %r
}
