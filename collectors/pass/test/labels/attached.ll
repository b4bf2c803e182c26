; Labels are access groups, to which a list of the module gives their texts; equal labels share their groups.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution,verify' -S %s | FileCheck %s

@named = global i32 0

; CHECK: load i32, ptr @named, align 4, !llvm.access.group [[GROUP:![0-9]+]]
; CHECK: load i32, ptr @named, align 4, !llvm.access.group [[GROUP]]
; CHECK: !trackway.labels = !{[[ENTRY:![0-9]+]]}
; CHECK: [[ENTRY]] = !{[[GROUP]], !"rv1named"}
; CHECK: [[GROUP]] = distinct !{}
define i32 @f() {
  %a = load i32, ptr @named
  %b = load i32, ptr @named
  %sum = add i32 %a, %b
  ret i32 %sum
}
