; What a function does to a lock is recorded while the thread has it: after the stamp of what locks, before that of what
; unlocks.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

target triple = "x86_64-unknown-linux-gnu"

declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_mutex_unlock(ptr)

define void @locks(ptr %m) {
; CHECK-LABEL: function locks
; CHECK: order 0
; CHECK: block 0 at [[M:r[0-9]+]], length 4
; CHECK: block 1 at [[M]] + 8, length 8
; CHECK: block 2 at [[M]] + 16, length 4
; CHECK: block 3 at [[M]], length 4
; CHECK: block 4 at [[M]] + 8, length 8
; CHECK: block 5 at [[M]] + 16, length 4
; CHECK: order 1
  %locked = call i32 @pthread_mutex_lock(ptr %m)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %m)
  ret void
}

; Whoever didn't get it isn't its owner.
define i32 @tries(ptr %m) {
; CHECK-LABEL: function tries
; CHECK: order 0
; CHECK: block 0 at [[M:r[0-9]+]], length [[TAKEN:r[0-9]+]]
; CHECK: block 1 at [[M]], length [[SEEN:r[0-9]+]]
; CHECK: block 2 at [[M]] + 8, length [[OWNED:r[0-9]+]]
; CHECK: block 3 at [[M]] + 16, length 4
  %locked = call i32 @pthread_mutex_trylock(ptr %m)
  ret i32 %locked
}
