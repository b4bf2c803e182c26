; Behind a call that few iterations meet, the decoder learns of the function again, for the rest of the loop.
; RUN: env TRACKWAY_PASS_OPTIONS=loops=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @rare()

define void @rare_calls(ptr %p, i64 %n) {
; CHECK-LABEL: function rare_calls
; CHECK: unit %entry: global
; CHECK: root [[P:r[0-9]+]] = %p : 8
; CHECK: unit %loop: local
; CHECK: access 0 at [[P]] + [[I:r[0-9]+]] * 4
; CHECK: unit %call: global, checks, resume
; CHECK-NEXT: context
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %odd = icmp eq i32 %v, 1
  br i1 %odd, label %call, label %next, !prof !0
call:
  call void @rare()
  br label %next
next:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A call in each iteration: the roots are recorded behind it as they are needed.
define void @loud(ptr %p, i64 %n) {
; CHECK-LABEL: function loud
; CHECK: unit %loop: global, checks
; CHECK-NOT: context
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr i32, ptr %p, i64 %i
  store i32 1, ptr %at
  call void @rare()
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Behind a second return nothing is known.
declare i32 @setjmp(ptr) returns_twice
define void @twice(ptr %p, ptr %buffer, i64 %n) {
; CHECK-LABEL: function twice
; CHECK-NOT: step
; CHECK: unit %call: global, checks{{$}}
; CHECK-NEXT: context
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %odd = icmp eq i32 %v, 1
  br i1 %odd, label %call, label %next, !prof !0
call:
  %r = call i32 @setjmp(ptr %buffer) returns_twice
  br label %next
next:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 1000}
