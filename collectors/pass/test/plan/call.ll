; A call ends a unit: the cursor is in memory before it, and what follows has a global id.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @other()

define i32 @f(ptr %p) {
; CHECK-LABEL: function f
; CHECK-NEXT: unit %0: global, checks
; CHECK-NEXT: enter
; CHECK-NEXT: root r0 = %p : 8
; CHECK-NEXT: access 0 at r0{{$}}
; CHECK-NEXT: unit %0: global, checks, resume r0
; CHECK-NEXT: access 1 at r0 + 4
; CHECK-NEXT: exit
; CHECK-NEXT: publish before call in %0
; CHECK-NEXT: publish before ret in %0
  %a = load i32, ptr %p
  call void @other()
  %field = getelementptr inbounds i8, ptr %p, i64 4
  %b = load i32, ptr %field
  %sum = add i32 %a, %b
  ret i32 %sum
}

; A call in tail position stays there: the exit comes before it.
define void @tail(ptr %p) {
; CHECK-LABEL: function tail
; CHECK: access 0
; CHECK-NEXT: exit
; CHECK-NEXT: publish before call in %0
; CHECK-NOT: unit
  store i32 1, ptr %p
  tail call void @other()
  ret void
}

; Intrinsics and empty assembly run no code that records; assembly with text may.
define void @barrier(ptr %p) {
; CHECK-LABEL: function barrier
; CHECK-NEXT: unit %0: global
; CHECK: access 0
; CHECK-NEXT: access 1
; CHECK: unit %0: global, checks, resume r0
; CHECK-NEXT: access 2
  store i32 1, ptr %p
  call void asm sideeffect "", "~{memory}"()
  store i32 2, ptr %p
  call void asm sideeffect "mfence", "~{memory}"()
  store i32 3, ptr %p
  ret void
}

declare void @llvm.coro.resume(ptr)

; Resuming a coroutine runs its code.
define void @resume(ptr %coroutine, ptr %p) {
; CHECK-LABEL: function resume
; CHECK: access 0 at
; CHECK: unit %{{.*}}: global
; CHECK: access 1 at
; CHECK: publish before call
  store i32 1, ptr %p
  call void @llvm.coro.resume(ptr %coroutine)
  store i32 2, ptr %p
  ret void
}
