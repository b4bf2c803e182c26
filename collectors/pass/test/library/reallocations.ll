; What realloc copies is read before the event that frees the old block, and written after it. How large the block was is
; asked before the call, and copied is only what moved.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck --check-prefix=CODE %s

declare ptr @realloc(ptr, i64)
declare ptr @reallocarray(ptr, i64, i64)
declare ptr @_RNvCsfLfy6EI15iL_7___rustc14___rust_realloc(ptr, i64, i64, i64)

define ptr @grow(ptr %old, i64 %size) {
; CHECK-LABEL: function grow
; CHECK: block 0 at [[OLD:r[0-9]+]], length [[BYTES:r[0-9]+]]
; CHECK: reallocate 0 at [[NEW:r[0-9]+]]
; CHECK: block 1 at [[NEW]], length [[BYTES]]
; CODE-LABEL: define internal ptr @grow.traced(
; CODE: [[BLOCK:%.*]] = call i64 @__trackway_extent_block(ptr %old)
; CODE: [[NEW:%.*]] = {{.*}}call ptr @realloc(ptr %old, i64 %size)
; CODE-NOT: @__trackway_extent_
; CODE: call i64 @llvm.umin.i64(i64 [[BLOCK]], i64 %size)
; CODE: ret ptr [[NEW]]
  %new = call ptr @realloc(ptr %old, i64 %size)
  ret ptr %new
}

define ptr @grow_array(ptr %old, i64 %count) {
; CHECK-LABEL: function grow_array
; CHECK: block 0 at
; CHECK: reallocate 0 at
; CHECK: block 1 at
  %new = call ptr @reallocarray(ptr %old, i64 %count, i64 24)
  ret ptr %new
}

; The program says how large the block was.
define ptr @grow_vector(ptr %old, i64 %before, i64 %after) {
; CHECK-LABEL: function grow_vector
; CHECK: block 0 at
; CHECK: reallocate 0 at
; CHECK: block 1 at
; CODE-LABEL: define internal ptr @grow_vector.traced(
; CODE: call i64 @__trackway_extent_copied(ptr %old, i64 %before)
; CODE: ___rust_realloc(
  %new = call ptr @_RNvCsfLfy6EI15iL_7___rustc14___rust_realloc(ptr %old, i64 %before, i64 8, i64 %after)
  ret ptr %new
}

; An allocator of Rust that passes it on: the copy is recorded where the allocator is called.
define ptr @_RNvCsfLfy6EI15iL_7___rustc13___rdl_realloc(ptr %old, i64 %before, i64 %alignment, i64 %after) {
; CHECK-LABEL: function _RNvCsfLfy6EI15iL_7___rustc13___rdl_realloc
; CHECK-NOT: block
; CHECK: exit
  %new = call ptr @realloc(ptr %old, i64 %after)
  ret ptr %new
}
