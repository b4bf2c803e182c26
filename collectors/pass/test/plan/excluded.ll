; Other address spaces and intrinsics without a model are not recorded.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @llvm.x86.sse2.maskmov.dqu(<16 x i8>, <16 x i8>, ptr)

define void @f(ptr addrspace(256) %segment, ptr %p) {
; CHECK-LABEL: function f
; CHECK-NEXT: unit
; CHECK-NEXT: enter
; CHECK-NEXT: exit
; CHECK-NOT: access
  store i32 1, ptr addrspace(256) %segment
  call void @llvm.x86.sse2.maskmov.dqu(<16 x i8> zeroinitializer, <16 x i8> zeroinitializer, ptr %p)
  ret void
}
