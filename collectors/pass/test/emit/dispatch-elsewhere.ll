; Where code can't jump to any function of the same type, the choice calls; functions that take further arguments, which a
; call couldn't pass on, are left alone.
; RUN: opt -mtriple=aarch64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s --check-prefix=JUMPS
; RUN: opt -mtriple=riscv64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s
; RUN: opt -mtriple=powerpc64le-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

define i32 @leaf(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; JUMPS: musttail call i32 @leaf.traced(
; CHECK: {{^}}  %{{.*}} = tail call i32 @leaf.traced(

define i32 @copies(ptr byval([64 x i8]) %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; JUMPS: call ptr asm "", "=r,0"(ptr @copies.traced)
; JUMPS-NEXT: musttail call void (...) %{{.*}}(...)
; CHECK: {{^}}  %{{.*}} = notail call i32 @copies.traced(

define i32 @further(ptr %p, ...) {
  %v = load i32, ptr %p
  ret i32 %v
}
; JUMPS: musttail call i32 (ptr, ...) @further.traced(
; CHECK-LABEL: define i32 @further(
; CHECK-NEXT: %v = load
; CHECK-NOT: @further.traced

define win64cc i32 @foreign(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; JUMPS: tail call win64cc i32 @foreign.traced(
