; Rust's allocator is recorded where it is called. What the standard library's own one does to get the memory, where that
; is compiled as well, is no second allocation; what a program's own allocator does is recorded, since code that is not
; may call it.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare ptr @malloc(i64)
declare void @free(ptr)
declare noalias ptr @_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc(i64, i64 allocalign)

; CHECK-LABEL: calls
; CHECK: allocate 0 at
define ptr @calls(i64 %size) {
  %p = call ptr @_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc(i64 %size, i64 8)
  ret ptr %p
}

; CHECK-LABEL: ___rust_dealloc
; CHECK: free 0 at
define void @_RNvCsfLfy6EI15iL_7___rustc14___rust_dealloc(ptr %p, i64 %size, i64 %align) {
  call void @free(ptr %p)
  ret void
}

; CHECK-LABEL: ___rdl_alloc
; CHECK-NOT: allocate
define ptr @_RNvCsfLfy6EI15iL_7___rustc11___rdl_alloc(i64 %size, i64 %align) {
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}
