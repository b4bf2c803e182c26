; Where frames are to stay small, the clock is read by a call that takes no registers away, and of many arguments some
; that find no register wait in memory while the position in the buffer is published.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

target triple = "x86_64-pc-linux-gnu"

declare void @many(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, double)

define i64 @acquires(ptr %p) noinline optnone {
  %v = load atomic i64, ptr %p acquire, align 8
  ret i64 %v
}

; CHECK-LABEL: define internal i64 @acquires.traced(
; CHECK: %trackway.clock = alloca i64
; CHECK: load atomic i64
; CHECK-NEXT: call void @llvm.x86.sse2.lfence()
; CHECK-NEXT: call preserve_allcc void @__trackway_read_clock(ptr nest %trackway.clock)
; CHECK-NEXT: load i64, ptr %trackway.clock

define i64 @optimised(ptr %p) {
  %v = load atomic i64, ptr %p acquire, align 8
  ret i64 %v
}

; CHECK-LABEL: define internal i64 @optimised.traced(
; CHECK: load atomic i64
; CHECK: call i64 @llvm.readcyclecounter()

define void @passes(ptr %p, ptr %q) noinline optnone {
  %tenth = load i64, ptr %p
  %last = load double, ptr %q
  call void @many(i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 %tenth, double %last)
  ret void
}

; CHECK-LABEL: define internal void @passes.traced(
; CHECK: [[TENTH:%.*]] = load i64, ptr %p
; CHECK-NEXT: [[SLOT:%.*]] = getelementptr inbounds i32, ptr %trackway.slots, i64 0
; CHECK-NEXT: store i64 [[TENTH]], ptr [[SLOT]]
; CHECK: [[LAST:%.*]] = load double
; CHECK: [[AGAIN:%.*]] = load i64, ptr
; CHECK-NEXT: call void @many(i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 [[AGAIN]], double [[LAST]])
