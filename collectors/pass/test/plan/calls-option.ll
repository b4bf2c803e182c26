; With calls=0 function entry and exit are not recorded, and a function that accesses nothing records nothing.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

define void @f(ptr %p) {
; CHECK-LABEL: function f
; CHECK-NEXT: unit %0: global, checks
; CHECK-NEXT: root
; CHECK-NEXT: access
; CHECK-NEXT: publish before ret
  store i32 1, ptr %p
  ret void
}

define void @nothing() {
; CHECK-LABEL: function nothing
; CHECK-NOT: {{.}}
  ret void
}
