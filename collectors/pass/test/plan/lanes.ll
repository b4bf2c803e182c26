; Masked accesses record their mask, gathers the pointers of their lanes too; a vector is one access.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.compressstore.v4i32(<4 x i32>, ptr, <4 x i1>)
declare <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x i64>)

define void @f(ptr %p, <4 x i1> %m) {
; CHECK-LABEL: function f
; CHECK: root [[M:r[0-9]+]] = %m[0] : 1
; CHECK-NEXT: root [[P:r[0-9]+]] = %p : 8
; CHECK-NEXT: masked 0 at [[P]], mask [[M]], lanes 0+4
; CHECK-NEXT: masked 1 at [[P]], mask [[M]], lanes 0+4
; CHECK-NEXT: access 2 at [[P]]
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %p, i32 4, <4 x i1> %m, <4 x i32> zeroinitializer)
  call void @llvm.masked.compressstore.v4i32(<4 x i32> %v, ptr %p, <4 x i1> %m)
  store <4 x i32> %v, ptr %p
  ret void
}

define <2 x i64> @gathered(<2 x ptr> %p, <2 x i1> %m) {
; CHECK-LABEL: function gathered
; CHECK: root [[M:r[0-9]+]] = %m[0] : 1
; CHECK-NEXT: root [[FIRST:r[0-9]+]] = %p[0] : 8
; CHECK-NEXT: root r{{[0-9]+}} = %p[1] : 8
; CHECK-NEXT: gather 0 at [[FIRST]]..., mask [[M]], lanes 0+2
  %v = call <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr> %p, i32 8, <2 x i1> %m, <2 x i64> zeroinitializer)
  ret <2 x i64> %v
}
