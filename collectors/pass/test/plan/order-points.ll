; Where threads synchronise, the clock is read: before what releases, after what acquires.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s
; RUN: opt -load-pass-plugin %plugin -passes=trackway-record -S %s | FileCheck %s --check-prefix=CODE
; RUN: env TRACKWAY_PASS_OPTIONS=order=0 opt -load-pass-plugin %plugin -passes=trackway-record -S %s | FileCheck %s --check-prefix=OFF
; RUN: sed 's/x86_64/aarch64/' %s | opt -load-pass-plugin %plugin -passes=trackway-record -S | FileCheck %s --check-prefix=OFF

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; OFF-NOT: readcyclecounter
; OFF-NOT: lfence

declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

@shared = global i64 0

; A release's stamp is taken before the store, and stands before it in the stream; an acquire's behind the load.
define void @atomics(ptr %p) {
; CHECK-LABEL: function atomics
; CHECK: root r0 = %p : 8
; CHECK-NEXT: root r[[BEFORE:[0-9]+]] = %[[#]] : 8
; CHECK-NEXT: order 0 at r0, stamp r[[BEFORE]]
; CHECK-NEXT: access 0 at r0
; CHECK-NEXT: access 1 at r0
; CHECK: root r[[BEHIND:[0-9]+]] = %[[#]] : 8
; CHECK-NEXT: order 1 at r0, stamp r[[BEHIND]]
; CODE-LABEL: define internal void @atomics.plain
; CODE-NOT: call i64 @llvm.readcyclecounter
; CODE: ret void
; CODE-LABEL: define internal void @atomics.traced
; CODE: call i64 @llvm.readcyclecounter()
; CODE: store atomic i64 1
; CODE: load atomic
; CODE: call void @llvm.x86.sse2.lfence()
; CODE: call i64 @llvm.readcyclecounter()
  store atomic i64 1, ptr %p release, align 8
  %v = load atomic i64, ptr %p acquire, align 8
  ret void
}

; A read-modify-write may be both. Relaxed operations order nothing else.
define void @update(ptr %p) {
; CHECK-LABEL: function update
; CHECK: order 0 at r0
; CHECK-NEXT: access 0 at r0
; CHECK: order 1 at r0
; CHECK: access 1
; CHECK-NOT: order
  %a = atomicrmw add ptr %p, i64 1 acq_rel
  %b = atomicrmw add ptr %p, i64 1 monotonic
  %c = load atomic i64, ptr %p monotonic, align 8
  ret void
}

define void @fences() {
; CHECK-LABEL: function fences
; CHECK: order 0 at 0
; CHECK: order 1 at 0
; CHECK-NOT: order
  fence seq_cst
  fence syncscope("singlethread") seq_cst
  ret void
}

define void @calls(ptr %m, ptr %c, i64 %t) {
; CHECK-LABEL: function calls
; CHECK: order 0 at r
; CHECK: access 0 at @shared
; CHECK: order 1 at r
; CHECK: order 2 at r
; CHECK: order 3 at r
; CHECK: order 4 at 0
  %1 = call i32 @pthread_mutex_lock(ptr %m)
  store i64 1, ptr @shared
  %2 = call i32 @pthread_mutex_unlock(ptr %m)
  %3 = call i32 @pthread_cond_wait(ptr %c, ptr %m)
  %4 = call i32 @pthread_join(i64 %t, ptr null)
  ret void
}

; Nothing can stand behind a call that must be the last one.
define i32 @last(ptr %m) {
; CHECK-LABEL: function last
; CHECK-NOT: order
  %r = musttail call i32 @pthread_mutex_lock(ptr %m)
  ret i32 %r
}

; Another thread starts and ends the body of a parallel region.
define internal void @body(ptr %a, ptr %b) {
; CHECK-LABEL: function body
; CHECK: order 0 at 0
; CHECK: access 0 at @shared
; CHECK: order 1 at 0
  store i64 2, ptr @shared
  ret void
}

define void @region() {
; CHECK-LABEL: function region
; CHECK: order 0 at 0
; CHECK: order 1 at 0
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @body)
  ret void
}
