; Entry and exit share the records of what is next to them.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare void @other()

; The entry goes along with both ways, the exit with what comes before the return; a way that records nothing else gets
; one record for both.
define i64 @sum(ptr %node) {
; CHECK-LABEL: function sum
; CHECK-NEXT: unit %read: global, checks
; CHECK-NEXT: enter
; CHECK-NEXT: root
; CHECK-NEXT: access 0
; CHECK-NEXT: exit
; CHECK-NEXT: unit %entry.done{{.*}}: global, checks
; CHECK-NEXT: enter
; CHECK-NEXT: exit
; CHECK-NOT: unit
; CHECK: publish
entry:
  %none = icmp eq ptr %node, null
  br i1 %none, label %done, label %read
read:
  %value = load i64, ptr %node
  br label %done
done:
  %sum = phi i64 [ 0, %entry ], [ %value, %read ]
  ret i64 %sum
}

; Before a call the entry stays, since what is called records.
define void @calls(i1 %c) {
; CHECK-LABEL: function calls
; CHECK-NEXT: unit %entry: global, checks
; CHECK-NEXT: enter
entry:
  call void @other()
  br i1 %c, label %done, label %done
done:
  ret void
}

; Nothing is gained where nothing is recorded on the ways.
define void @nothing(i1 %c) {
; CHECK-LABEL: function nothing
; CHECK-NEXT: unit %entry: global, checks
; CHECK-NEXT: enter
; CHECK-NEXT: unit %done: local
; CHECK-NEXT: exit
entry:
  br i1 %c, label %left, label %right
left:
  br label %done
right:
  br label %done
done:
  ret void
}
