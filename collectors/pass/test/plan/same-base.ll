; Accesses at constant distances from one pointer need one root.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

define i32 @f(ptr %p) {
; CHECK-LABEL: function f
; CHECK-NEXT: unit %0: global, checks
; CHECK-NEXT: enter
; CHECK-NEXT: root r0 = %p : 8
; CHECK-NEXT: access 0 at r0 + 16
; CHECK-NEXT: access 1 at r0{{$}}
; CHECK-NEXT: exit
  %field = getelementptr inbounds i8, ptr %p, i64 16
  %a = load i32, ptr %field
  %b = load i32, ptr %p
  %sum = add i32 %a, %b
  ret i32 %sum
}
