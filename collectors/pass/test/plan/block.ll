; Copies and fills are blocks whose length is a constant or a root.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.p0.p256.i64(ptr, ptr addrspace(256), i64, i1)
declare void @llvm.memset.p0.i32(ptr, i8, i32, i1)

define void @f(ptr %to, ptr %from, i32 %n) {
; CHECK-LABEL: function f
; CHECK: block 0 at [[FROM:r[0-9]+]], length 24
; CHECK: block 1 at [[TO:r[0-9]+]], length 24
; CHECK-NEXT: root [[N:r[0-9]+]] = %n : 4{{$}}
; CHECK-NEXT: block 2 at [[TO]], length [[N]]
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 24, i1 false)
  call void @llvm.memset.p0.i32(ptr %to, i8 0, i32 %n, i1 false)
  ret void
}

; Of a copy from another address space the write is recorded.
define void @from_elsewhere(ptr %to, ptr addrspace(256) %from) {
; CHECK-LABEL: function from_elsewhere
; CHECK: root [[TO:r[0-9]+]] = %to
; CHECK-NEXT: block 0 at [[TO]], length 24
; CHECK-NEXT: exit
  call void @llvm.memcpy.p0.p256.i64(ptr %to, ptr addrspace(256) %from, i64 24, i1 false)
  ret void
}
