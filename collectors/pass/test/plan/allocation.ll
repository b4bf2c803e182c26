; Allocations are recorded after the call, frees before it.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)

define void @f(i64 %n) {
; CHECK-LABEL: function f
; CHECK: allocate 0 at [[P:r[0-9]+]], size [[N:r[0-9]+]] * 24, count 1
; CHECK: reallocate 1 at r{{[0-9]+}}, size 100, count 1, old r{{[0-9]+}}
; CHECK: free 2 at r{{[0-9]+}}
; CHECK: publish before call
  %size = mul i64 %n, 24
  %p = call ptr @malloc(i64 %size)
  %q = call ptr @realloc(ptr %p, i64 100)
  call void @free(ptr %q)
  ret void
}

; The address is where the function was told to put it, if it returned 0. Our own load of it is no access.
define void @stored(ptr %where) {
; CHECK-LABEL: function stored
; CHECK: root r0 = %{{.*}} : 8
; CHECK-NEXT: allocate 0 at r0, size 64, count 1
; CHECK-NOT: access
  %r = call i32 @posix_memalign(ptr %where, i64 64, i64 64)
  ret void
}
