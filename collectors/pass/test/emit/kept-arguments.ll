; An unoptimised function stores its arguments in its frame ahead of the check for the end of the buffer, so that none
; outlives a branch. Only after the record the program's own stores come, of what the frame holds.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

%pair = type { i64, i64 }

; A number, a truth value, and a structure in two registers. What is no argument waits for its turn.
define i32 @all(i32 %n, i1 %b, i64 %first, double %second) noinline optnone {
  %result = alloca i32
  %n.addr = alloca i32
  %b.addr = alloca i8
  %both = alloca %pair
  store i32 0, ptr %result
  store i32 %n, ptr %n.addr
  %wide = zext i1 %b to i8
  store i8 %wide, ptr %b.addr
  %both.0 = getelementptr inbounds %pair, ptr %both, i32 0, i32 0
  store i64 %first, ptr %both.0
  %both.1 = getelementptr inbounds %pair, ptr %both, i32 0, i32 1
  store double %second, ptr %both.1
  %v = load i32, ptr %n.addr
  ret i32 %v
}

; CHECK-LABEL: define internal i32 @all.traced(
; CHECK-NOT: br
; CHECK-NOT: store i32 0, ptr %result
; CHECK: store i32 %n, ptr %n.addr
; CHECK: store i8 %wide, ptr %b.addr
; CHECK: store i64 %first, ptr %both.0
; CHECK: store double %second, ptr %both.1
; CHECK: load volatile ptr
; CHECK: icmp uge ptr
; CHECK-NEXT: br i1
; CHECK: call preserve_mostcc ptr @__trackway_flush
; CHECK: store volatile i32 %{{[0-9]+}}, ptr %{{[0-9]+}}, align 1
; CHECK: store i32 0, ptr %result
; CHECK: [[N:%[0-9]+]] = load i32, ptr %n.addr
; CHECK: store i32 [[N]], ptr %n.addr
; CHECK: [[B:%[0-9]+]] = load i8, ptr %b.addr
; CHECK: store i8 [[B]], ptr %b.addr
; CHECK: [[FIRST:%[0-9]+]] = load i64, ptr %both
; CHECK: store i64 [[FIRST]], ptr %both
; CHECK: [[PLACE:%[0-9]+]] = getelementptr inbounds i8, ptr %both, i64 8
; CHECK-NEXT: [[SECOND:%[0-9]+]] = load double, ptr [[PLACE]]
; CHECK: store double [[SECOND]], ptr [[PLACE]]
; CHECK: %v = load i32, ptr %n.addr
; CHECK: ret i32

; Where a store overlaps one before it, what the frame holds isn't what was stored first: from there on each store waits
; for the record.
define void @overlapping(i64 %whole, i32 %half) noinline optnone {
  %place = alloca i64
  store i64 %whole, ptr %place
  %upper = getelementptr inbounds i8, ptr %place, i64 4
  store i32 %half, ptr %upper
  ret void
}

; CHECK-LABEL: define internal void @overlapping.traced(
; CHECK-NOT: store i32 %half
; CHECK: store i64 %whole, ptr %place
; CHECK: icmp uge ptr
; CHECK: [[WHOLE:%[0-9]+]] = load i64, ptr %place
; CHECK: store i64 [[WHOLE]], ptr %place
; CHECK: store i32 %half, ptr
; CHECK-NOT: store i32 %half
; CHECK: ret void

; What the program writes elsewhere, or may see, is written once.
define void @elsewhere(i32 %n, ptr %out) noinline optnone {
  %n.addr = alloca i32
  store volatile i32 %n, ptr %n.addr
  store i32 %n, ptr %out
  ret void
}

; CHECK-LABEL: define internal void @elsewhere.traced(
; CHECK-NOT: store{{.*}} i32 %n,
; CHECK: icmp uge ptr
; CHECK: store volatile i32 %n, ptr %n.addr
; CHECK: store i32 %n, ptr %out
; CHECK-NOT: store{{.*}} i32 %n,
; CHECK: ret void

; Optimised code has no places that it would have to save.
define void @optimised(i32 %n) {
  %n.addr = alloca i32
  store i32 %n, ptr %n.addr
  ret void
}

; CHECK-LABEL: define internal void @optimised.traced(
; CHECK-NOT: store i32 %n,
; CHECK: icmp uge ptr
; CHECK: store i32 %n, ptr %n.addr
; CHECK-NOT: store i32 %n,
; CHECK: ret void
