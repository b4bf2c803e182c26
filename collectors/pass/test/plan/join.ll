; Where the decoder knows the function on one path only, the cursor is stored on the edges that lead there.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @other()

define void @f(i1 %c, ptr %p, ptr %q) {
; CHECK-LABEL: function f
; CHECK: unit %records: global
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
  br i1 %more, label %loop, label %join, !prof !0
calls:
  call void @other()
  br label %join
join:
  br label %end
end:
  ret void
}

define void @known(i1 %c, ptr %p) {
; CHECK-LABEL: function known
; CHECK: unit %entry: global
; CHECK: root r0 = %p : 8
; CHECK: unit %then: local, continues %entry
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

; Where most ways know the function, the rare one that comes from a call gets a record of its own.
define void @rare(i1 %c, ptr %p) {
; CHECK-LABEL: function rare
; CHECK: unit %loop: local
; CHECK: unit %call: global, checks
; CHECK-NEXT: context
entry:
  store i32 1, ptr %p
  br label %loop
loop:
  %v = load volatile i32, ptr %p
  switch i32 %v, label %back [
    i32 1, label %call
    i32 2, label %back
    i32 3, label %back
    i32 4, label %done
  ]
call:
  call void @other()
  br label %back
back:
  br label %loop
done:
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 100000}
