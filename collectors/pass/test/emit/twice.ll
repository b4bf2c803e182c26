; A module is recorded once, however often the pass runs over it; what the pass adds for itself is not recorded.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-record' -S %s -o %t.once.ll
; RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-record,verify' -S %t.once.ll -o %t.twice.ll
; RUN: sed -e '/ModuleID/d' -e 's/ *; preds.*//' %t.once.ll > %t.once
; RUN: sed -e '/ModuleID/d' -e 's/ *; preds.*//' %t.twice.ll > %t.twice
; RUN: diff %t.once %t.twice
; RUN: opt -load-pass-plugin %plugin -passes='default<O1>,trackway-record,verify' -S %s | FileCheck %s

; CHECK: @trackway.table = private constant
; CHECK-NOT: @trackway.table.
define i32 @get(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
