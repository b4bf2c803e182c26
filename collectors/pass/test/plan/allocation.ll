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

; A block may stand before the invoke that leads to it. Its event still comes first, behind its root.
declare i32 @personality(...)
define void @invoked(i1 %again) personality ptr @personality {
; CHECK-LABEL: function invoked
; CHECK: unit %normal: global
; CHECK-NEXT: root [[P:r[0-9]+]] = %p : 8
; CHECK-NEXT: allocate 0 at [[P]], size 64, count 1
; CHECK-NEXT: access 0 at [[P]] + 8
entry:
  br label %call
normal:
  %at = getelementptr i8, ptr %p, i64 8
  store i64 1, ptr %at
  ret void
call:
  %p = invoke ptr @malloc(i64 64) to label %normal unwind label %thrown
thrown:
  %exception = landingpad { ptr, i32 } cleanup
  ret void
}
