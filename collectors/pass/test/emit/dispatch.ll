; A function becomes a choice between a recording and a plain version; calls within the module go from version to version.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

@labels = internal constant [2 x ptr] [ptr blockaddress(@computed, %one), ptr blockaddress(@computed, %two)]

; CHECK: @labels.plain = private constant [2 x ptr] [ptr blockaddress(@computed.plain, %one), ptr blockaddress(@computed.plain, %two)]
; CHECK: @labels = internal constant [2 x ptr] [ptr blockaddress(@computed.traced, %one), ptr blockaddress(@computed.traced, %two)]

define i32 @leaf(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
; CHECK-LABEL: define i32 @leaf(ptr %{{.*}})
; CHECK: [[PLACE:%.*]] = load ptr, ptr getelementptr{{.*}}@trackway.module
; CHECK: [[OPEN:%.*]] = load atomic i32, ptr [[PLACE]] monotonic
; CHECK: icmp ne i32 [[OPEN]], 0
; CHECK: [[JOINED:%.*]] = load i32, ptr %
; CHECK: icmp eq i32 [[JOINED]], [[OPEN]]
; CHECK: musttail call i32 @leaf.traced(
; CHECK: musttail call i32 @leaf.plain(
; CHECK: musttail call i32 @leaf.late(

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

; CHECK-LABEL: define void @hooked()
; CHECK-NOT: #
; CHECK-SAME: {

; CHECK-LABEL: define internal i32 @leaf.plain(
; CHECK-NEXT: %v = load i32, ptr %p
; CHECK-NEXT: ret i32 %v

; CHECK-LABEL: define internal i32 @caller.plain(
; CHECK-NEXT: call i32 @leaf.plain(
; CHECK-NEXT: call i32 @replaceable(

; CHECK-LABEL: define internal i32 @computed.plain(
; CHECK-NEXT: %slot = getelementptr [2 x ptr], ptr @labels.plain

; CHECK-LABEL: define internal i32 @jumps.plain(
; CHECK-NEXT: %slot = getelementptr [2 x ptr], ptr @writable.plain

; CHECK-LABEL: define internal void @keeps.plain(

; CHECK-LABEL: define internal void @hooked.plain() #


; CHECK-LABEL: define internal i32 @caller.traced(
; CHECK: call i32 @leaf.traced(
; CHECK: call i32 @replaceable(

; A table is copied if no other function sees it, whether or not it is written to.
@writable = internal global [2 x ptr] [ptr blockaddress(@jumps, %one), ptr blockaddress(@jumps, %two)]

define i32 @jumps(i64 %i) {
  %slot = getelementptr [2 x ptr], ptr @writable, i64 0, i64 %i
  %target = load ptr, ptr %slot
  store ptr %target, ptr @writable
  indirectbr ptr %target, [label %one, label %two]
one:
  ret i32 1
two:
  ret i32 2
}

; In a local variable a label stays inside.
@kept = internal constant [2 x ptr] [ptr blockaddress(@keeps, %one), ptr blockaddress(@keeps, %two)]

define void @keeps(i64 %i) {
  %variable = alloca ptr
  %slot = getelementptr [2 x ptr], ptr @kept, i64 0, i64 %i
  %target = load ptr, ptr %slot
  store ptr %target, ptr %variable
  %next = load ptr, ptr %variable
  indirectbr ptr %next, [label %one, label %two]
one:
  ret void
two:
  ret void
}

; Hooks at entry and exit belong to the versions.
define void @hooked() "instrument-function-entry-inlined"="mcount" {
  ret void
}
