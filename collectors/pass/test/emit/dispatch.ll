; A function becomes a choice between a recording and a plain version; calls within the module go from version to version.
; RUN: opt-19 -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck-19 %s

@labels = internal constant [2 x ptr] [ptr blockaddress(@computed, %one), ptr blockaddress(@computed, %two)]

; CHECK: @labels.plain = private constant [2 x ptr] [ptr blockaddress(@computed.plain, %one), ptr blockaddress(@computed.plain, %two)]
; CHECK: @labels = internal constant [2 x ptr] [ptr blockaddress(@computed.traced, %one), ptr blockaddress(@computed.traced, %two)]

define i32 @leaf(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK-LABEL: define i32 @leaf(ptr %{{.*}})
; CHECK: load i32, ptr @trackway.module
; CHECK: musttail call i32 @leaf.traced(
; CHECK: musttail call i32 @leaf.plain(

define weak i32 @replaceable(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}

define i32 @caller(ptr %p) {
  %a = call i32 @leaf(ptr %p)
  %b = call i32 @replaceable(ptr %p)
  %c = add i32 %a, %b
  ret i32 %c
}

define i32 @computed(i64 %i) {
  %slot = getelementptr [2 x ptr], ptr @labels, i64 0, i64 %i
  %target = load ptr, ptr %slot
  indirectbr ptr %target, [label %one, label %two]
one:
  ret i32 1
two:
  ret i32 2
}

; CHECK-LABEL: define internal i32 @leaf.plain(
; CHECK-NEXT: %v = load i32, ptr %p
; CHECK-NEXT: ret i32 %v

; CHECK-LABEL: define internal i32 @caller.plain(
; CHECK-NEXT: call i32 @leaf.plain(
; CHECK-NEXT: call i32 @replaceable(

; CHECK-LABEL: define internal i32 @computed.plain(
; CHECK-NEXT: %slot = getelementptr [2 x ptr], ptr @labels.plain

; CHECK-LABEL: define internal i32 @caller.traced(
; CHECK: call i32 @leaf.traced(
; CHECK: call i32 @replaceable(
