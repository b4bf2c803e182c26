; Where the decoder knows the function on one path only, the cursor is stored on the edges that lead there.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @other()

define void @f(i1 %c, ptr %p, ptr %q) {
; CHECK-LABEL: function f
; CHECK: unit %records: local
; CHECK: unit %join: global, checks
; CHECK: publish before br in %records
entry:
  br i1 %c, label %records, label %calls
records:
  store i32 1, ptr %p
  br label %join
calls:
  call void @other()
  br label %join
join:
  store i32 2, ptr %q
  ret void
}

; A root that is recorded on every path is not recorded again.
; Only the edge that loses the function pays: the loop's own edge does not.
define void @edge(ptr %p, i64 %n, i1 %c) {
; CHECK-LABEL: function edge
; CHECK: unit %loop: local
; CHECK: publish from %loop to %join
entry:
  br i1 %c, label %calls, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %v = load i64, ptr %p
  %next = add i64 %i, 1
  %more = icmp ult i64 %v, %n
  br i1 %more, label %loop, label %join
calls:
  call void @other()
  br label %join
join:
  ret void
}

define void @known(i1 %c, ptr %p) {
; CHECK-LABEL: function known
; CHECK: unit %entry: global
; CHECK: root r0 = %p : 8
; CHECK: unit %then: local{{$}}
; CHECK-NEXT: access 1 at r0 + 4
; CHECK-NEXT: unit %join: local{{$}}
; CHECK-NEXT: access 2 at r0 + 8
entry:
  store i32 1, ptr %p
  br i1 %c, label %then, label %join
then:
  %a = getelementptr inbounds i8, ptr %p, i64 4
  store i32 2, ptr %a
  br label %join
join:
  %b = getelementptr inbounds i8, ptr %p, i64 8
  store i32 3, ptr %b
  ret void
}
