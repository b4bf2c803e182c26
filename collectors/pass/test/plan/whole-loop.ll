; A loop of one path whose count is known before it begins is one operation, and so is a nest of them.
; RUN: env TRACKWAY_PASS_OPTIONS=loops=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

define void @fill(ptr %p, i64 %n) {
; CHECK-LABEL: function fill
; CHECK: unit %entry: global
; CHECK-DAG: set [[I:r[0-9]+]] = 0
; CHECK-DAG: root [[P:r[0-9]+]] = %p : 8
; CHECK: repeat [[N:r[0-9]+]]{{.*}} times
; CHECK-NEXT: access 0 at [[P]] + [[I]] * 4
; CHECK-NEXT: step [[I]] by 1
; CHECK-NOT: unit %loop
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr i32, ptr %p, i64 %i
  store i32 1, ptr %at
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

define void @nest(ptr %p) {
; CHECK-LABEL: function nest
; CHECK: repeat 10 times
; CHECK: set [[J:r[0-9]+]] = 0
; CHECK-NEXT: repeat 20 times
; CHECK-NEXT: access 0 at
; CHECK-NEXT: step [[J]] by 1
; CHECK-NEXT: step [[I:r[0-9]+]] by 1
; CHECK-NOT: unit %inner
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %row = getelementptr [20 x i32], ptr %p, i64 %i
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %at = getelementptr i32, ptr %row, i64 %j
  store i32 1, ptr %at
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp ult i64 %j.next, 20
  br i1 %more, label %inner, label %next
next:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %i.next, 10
  br i1 %again, label %outer, label %done
done:
  ret void
}

; Two paths, an exit in the midst, or an address that is loaded: each iteration records for itself.
define void @two_paths(ptr %p, i64 %n) {
; CHECK-LABEL: function two_paths
; CHECK-NOT: {{^ *}}repeat
; CHECK: unit %loop
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %odd = icmp eq i32 %v, 1
  br i1 %odd, label %more, label %next
more:
  store i32 0, ptr %at
  br label %next
next:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}

define i64 @search(ptr %p, i64 %n) {
; CHECK-LABEL: function search
; CHECK-NOT: {{^ *}}repeat
; CHECK: unit %loop
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %found = icmp eq i32 %v, 1
  br i1 %found, label %done, label %next
next:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %loop, label %done
done:
  ret i64 %i
}

define void @indirect(ptr %p, i64 %n) {
; CHECK-LABEL: function indirect
; CHECK-NOT: {{^ *}}repeat
; CHECK: unit %loop
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr ptr, ptr %p, i64 %i
  %q = load ptr, ptr %at
  store i32 1, ptr %q
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
