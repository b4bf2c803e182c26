; Behind a call, registers are recorded again only if another activation of the function set them, or the buffer changed.
; RUN: opt -load-pass-plugin %plugin -passes=trackway-record -S %s | FileCheck %s

declare void @other()

; CHECK-LABEL: define internal i32 @f.traced(
; CHECK: %trackway.activation = alloca i8
; The first record makes this activation the owner.
; CHECK: [[OWNER:%[0-9]+]] = getelementptr inbounds i8, ptr [[CELLS:%[0-9]+]], i32 [[PLACE:[0-9]+]]
; CHECK-NEXT: store volatile ptr %trackway.activation, ptr [[OWNER]]
; CHECK: call void @other()
; CHECK: icmp ne ptr [[CELLS]], [[NOW:%[0-9]+]]
; CHECK: call {{.*}}ptr @__trackway_flush(
; CHECK: store ptr %p
; CHECK: store volatile ptr %trackway.activation, ptr
; CHECK: getelementptr inbounds i8, ptr [[NOW]], i32 [[PLACE]]
; CHECK-NEXT: [[LAST:%[0-9]+]] = load volatile ptr, ptr
; CHECK-NEXT: icmp ne ptr [[LAST]], %trackway.activation
define i32 @f(ptr %p) {
  %a = load i32, ptr %p
  call void @other()
  %b = load i32, ptr %p
  %sum = add i32 %a, %b
  ret i32 %sum
}

; One that calls itself records anew: its own calls would always take the registers.
; CHECK-LABEL: define internal i32 @again.traced(
; CHECK-NOT: trackway.activation
; CHECK: ret i32
define i32 @again(ptr %p) {
  %a = load i32, ptr %p
  %r = call i32 @again(ptr %p)
  %b = load i32, ptr %p
  %sum = add i32 %a, %b
  ret i32 %sum
}
