; On x86-64 the choice jumps in the usual conventions, and in those whose stack must not grow. In others LLVM moves arguments
; on the stack wrongly when it has to jump: there it decides whether it can.
; RUN: opt -mtriple=x86_64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

define i32 @usual(<8 x i32> %a, ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK: {{^}}  %{{.*}} = musttail call i32 @usual.traced(

define preserve_mostcc i32 @preserving(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK: {{^}}  %{{.*}} = musttail call preserve_mostcc i32 @preserving.traced(

define tailcc i32 @never.grows(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK: {{^}}  %{{.*}} = musttail call tailcc i32 @never.grows.traced(

define win64cc i32 @foreign(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, <8 x i32> %f, ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK: {{^}}  %{{.*}} = tail call win64cc i32 @foreign.traced(

; Unnamed arguments can only be jumped on with.
define win64cc i32 @foreign.further(ptr %p, ...) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK-LABEL: define win64cc i32 @foreign.further(
; CHECK-NEXT: %v = load
; CHECK-NOT: @foreign.further.traced

; Where the callee removes its arguments from the stack, only an ordinary call has copies of its own.
define tailcc i32 @removes(ptr byval([64 x i8]) %s) {
  %v = load i32, ptr %s
  ret i32 %v
}
; CHECK-LABEL: define tailcc i32 @removes(ptr byval
; CHECK: {{^}}  %{{.*}} = notail call tailcc i32 @removes.traced(
