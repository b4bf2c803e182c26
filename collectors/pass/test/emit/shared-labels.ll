; Labels that leave their function are entries of a table, which both versions jump by: the plain one to what the entry
; holds, the recording one to what stands half a table further.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,trackway-count,verify' -S %s | FileCheck %s --check-prefix=COUNT

@seen = internal global [2 x ptr] [ptr blockaddress(@shows, %one), ptr blockaddress(@shows, %two)]
@distance = internal constant i32 trunc (i64 sub (i64 ptrtoint (ptr blockaddress(@shows, %two) to i64), i64 ptrtoint (ptr blockaddress(@shows, %one) to i64)) to i32)
@translation = internal constant [1 x ptr] [ptr blockaddress(@interprets, %two)]
@own = internal constant [1 x ptr] [ptr blockaddress(@hands_out, %two)]
@in_assembly = internal constant [1 x ptr] [ptr blockaddress(@leaves_by_assembly, %two)]
@place = internal constant [1 x ptr] [ptr blockaddress(@says_where, %here)]

; CHECK-DAG: @seen = internal global [2 x ptr] [ptr @trackway.targets.shows, ptr getelementptr {{.*}}@trackway.targets.shows
; CHECK-DAG: @distance = {{.*}}@trackway.targets.shows
; CHECK-DAG: @translation = internal constant [1 x ptr] [ptr getelementptr {{.*}}@trackway.targets.interprets
; CHECK-DAG: @own = internal constant [1 x ptr] [ptr @trackway.targets.hands_out]
; CHECK-DAG: @in_assembly = internal constant [1 x ptr] [ptr blockaddress(@leaves_by_assembly.traced, %two)]
; CHECK-DAG: @trackway.targets.shows = internal constant [4 x ptr] [ptr blockaddress(@shows.plain, %one), ptr blockaddress(@shows.plain, %two), ptr blockaddress(@shows.traced, %one), ptr blockaddress(@shows.traced, %two)]
; CHECK-DAG: @trackway.targets.hands_out = internal constant {{.*}}, comdat($hands_out)
; COUNT-DAG: @trackway.targets.shows = internal constant [4 x ptr] [ptr blockaddress(@shows.plain, %one), ptr blockaddress(@shows.plain, %two), ptr blockaddress(@shows.traced, %one), ptr blockaddress(@shows.traced, %two)]

$hands_out = comdat any

; Another function sees the table of labels.
define i32 @shows(i64 %i) {
  %slot = getelementptr [2 x ptr], ptr @seen, i64 0, i64 %i
  %target = load ptr, ptr %slot
  indirectbr ptr %target, [label %one, label %two]
one:
  ret i32 1
two:
  ret i32 2
}

define ptr @other(i64 %i) {
  ret ptr @seen
}

; The label comes from another function.
define i32 @interprets(ptr %program) {
  %target = load ptr, ptr %program
  indirectbr ptr %target, [label %one, label %two]
one:
  ret i32 1
two:
  %next = getelementptr ptr, ptr %program, i64 1
  %label = load ptr, ptr %next
  %is = icmp eq ptr %label, blockaddress(@interprets, %one)
  %result = zext i1 %is to i32
  ret i32 %result
}

define void @translates(ptr %program, i64 %i) {
  %slot = getelementptr [1 x ptr], ptr @translation, i64 0, i64 %i
  %target = load ptr, ptr %slot
  store ptr %target, ptr %program
  ret void
}

; The function hands its labels out, and takes them back. Empty assembly can't jump.
define linkonce_odr void @hands_out(ptr %program, i64 %i) comdat {
  %slot = getelementptr [1 x ptr], ptr @own, i64 0, i64 %i
  %target = load ptr, ptr %slot
  store ptr %target, ptr %program
  %next = load ptr, ptr %program
  %hidden = call ptr asm "", "=r,0"(ptr %next)
  indirectbr ptr %hidden, [label %one, label %two]
one:
  ret void
two:
  ret void
}

; Assembly with operands might jump to a label, so there is one version.
define i32 @leaves_by_assembly(ptr %program) {
  %target = load ptr, ptr %program
  store ptr @in_assembly, ptr %program
  call void asm sideeffect "jmp *$0", "r"(ptr %target)
  indirectbr ptr %target, [label %one, label %two]
one:
  ret i32 1
two:
  ret i32 2
}

; Nor is there a second one where a label only says where the code is.
define void @says_where(ptr %to) {
  br label %here
here:
  store ptr blockaddress(@says_where, %here), ptr %to
  ret void
}

; CHECK-LABEL: define i32 @shows(
; CHECK: musttail call i32 @shows.traced(
; CHECK: musttail call i32 @shows.plain(
; COUNT-LABEL: define i32 @shows(
; COUNT: musttail call i32 @shows.plain(
; CHECK-LABEL: define i32 @leaves_by_assembly(
; CHECK-NOT: @leaves_by_assembly.plain(
; CHECK: musttail call i32 @leaves_by_assembly.traced(
; CHECK: musttail call i32 @leaves_by_assembly.traced(
; COUNT-LABEL: define i32 @leaves_by_assembly(
; COUNT-NOT: musttail call
; COUNT: indirectbr ptr %target
; CHECK-LABEL: define void @says_where(
; CHECK-NOT: @says_where.plain(
; CHECK: musttail call void @says_where.traced(
; CHECK: musttail call void @says_where.traced(

; CHECK-LABEL: define internal i32 @shows.plain(
; CHECK: [[TARGET:%.*]] = load ptr, ptr %slot
; CHECK-NEXT: [[BLOCK:%.*]] = load ptr, ptr [[TARGET]], {{.*}}!invariant.load
; CHECK-NEXT: indirectbr ptr [[BLOCK]], [label %one, label %two]

; CHECK-LABEL: define internal i32 @interprets.plain(
; CHECK: icmp eq ptr %label, @trackway.targets.interprets

; CHECK-LABEL: define internal void @hands_out.plain(
; CHECK-SAME: comdat($hands_out)
; CHECK: [[TARGET:%.*]] = call ptr asm
; CHECK-NEXT: [[BLOCK:%.*]] = load ptr, ptr [[TARGET]]
; CHECK-NEXT: indirectbr ptr [[BLOCK]]

; COUNT-LABEL: define internal i32 @shows.traced(
; COUNT: [[ENTRY:%.*]] = getelementptr inbounds{{.*}} ptr %target, i64 {{2|16}}
; COUNT-NEXT: [[BLOCK:%.*]] = load ptr, ptr [[ENTRY]]
; COUNT-NEXT: indirectbr ptr [[BLOCK]], [label %one, label %two]

; CHECK-LABEL: define internal i32 @shows.traced(
; CHECK: [[ENTRY:%.*]] = getelementptr inbounds{{.*}} ptr %target, i64 {{2|16}}
; CHECK-NEXT: [[BLOCK:%.*]] = load ptr, ptr [[ENTRY]]
; CHECK-NEXT: indirectbr ptr [[BLOCK]], [label %one, label %two]
