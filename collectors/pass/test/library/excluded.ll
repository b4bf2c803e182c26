; A function of a known name is another one if the module defines it, or if what it takes or returns is something else.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare i32 @strlen(i32)
declare void @memchr(ptr, i32, i64)
declare i32 @snprintf(ptr, ...)

define i64 @strnlen(ptr %s, i64 %n) {
  ret i64 0
}

define void @f(ptr %s) {
; CHECK-LABEL: function f
; CHECK-NOT: block
  %a = call i32 @strlen(i32 5)
  call void @memchr(ptr %s, i32 0, i64 3)
  %b = call i64 @strnlen(ptr %s, i64 3)
  %c = call i32 (ptr, ...) @snprintf(ptr %s, i64 3, ptr %s)
  ret void
}

define void @through_a_pointer(ptr %s, ptr %f) {
; CHECK-LABEL: function through_a_pointer
; CHECK-NOT: block
  %n = call i64 %f(ptr %s)
  ret void
}
