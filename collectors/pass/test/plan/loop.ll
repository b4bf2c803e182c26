; In a loop without calls invariant roots are recorded before it, and counters are stepped by the decoder.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

define void @copy(ptr %to, ptr %from, i64 %n) {
; CHECK-LABEL: function copy
; CHECK: unit %entry: global, checks
; CHECK-DAG: root [[FROM:r[0-9]+]] = %from : 8
; CHECK-DAG: root [[TO:r[0-9]+]] = %to : 8
; CHECK-DAG: set [[I:r[0-9]+]] = 0
; CHECK: unit %loop: local, checks, resume r0 r1 r2
; CHECK-NEXT: access 0 at [[FROM]] + [[I]] * 4
; CHECK-NEXT: access 1 at [[TO]] + [[I]] * 4
; CHECK-NEXT: step [[I]] by 1
; CHECK: unit %done: local
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr inbounds i32, ptr %from, i64 %i
  %v = load i32, ptr %source
  %target = getelementptr inbounds i32, ptr %to, i64 %i
  store i32 %v, ptr %target
  %next = add i64 %i, 1
  %more = icmp ne i32 %v, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A pointer that is loaded anew each time is recorded each time, once for all fields of its node.
define i64 @chase(ptr %head) {
; CHECK-LABEL: function chase
; CHECK: unit %loop: local, checks{{$}}
; CHECK-NEXT: root r0 = %node : 8
; CHECK-NEXT: access 0 at r0 + 8
; CHECK-NEXT: access 1 at r0{{$}}
entry:
  br label %loop
loop:
  %node = phi ptr [ %head, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %total, %loop ]
  %field = getelementptr inbounds i8, ptr %node, i64 8
  %v = load i64, ptr %field
  %total = add i64 %sum, %v
  %next = load ptr, ptr %node
  %end = icmp eq ptr %next, null
  br i1 %end, label %done, label %loop
done:
  ret i64 %total
}

; Registers outlive the call in the loop, but only what is used is recorded.
define void @calls(ptr %p, i64 %n) {
; CHECK-LABEL: function calls
; CHECK: root r0 = %p : 8
; CHECK: unit %loop: global, checks, resume r0
; CHECK-NEXT: access 0 at r0
; CHECK-NOT: step
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %v = load i64, ptr %p
  call void @other(i64 %v)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare void @other(i64)
