; A function that must leave vector registers as they were flushes by a call that preserves all of them, where its frame is
; to stay small.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

target triple = "x86_64-pc-linux-gnu"

define win64cc i32 @foreign(ptr %p) noinline optnone {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal win64cc i32 @foreign.traced(
; CHECK: call preserve_allcc ptr @__trackway_flush_all(

define preserve_allcc i32 @careful(ptr %p) noinline optnone {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal preserve_allcc i32 @careful.traced(
; CHECK: call preserve_allcc ptr @__trackway_flush_all(

define win64cc i32 @large_registers(ptr %p) noinline optnone "target-features"="+avx,+sse2" {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal win64cc i32 @large_registers.traced(
; CHECK: call preserve_allcc ptr @__trackway_flush_all_avx(

define win64cc i32 @optimised(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal win64cc i32 @optimised.traced(
; CHECK: call preserve_mostcc ptr @__trackway_flush(

define i32 @ours(ptr %p) noinline optnone {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal i32 @ours.traced(
; CHECK: call preserve_mostcc ptr @__trackway_flush(
