; Values that a loop carries are computed by the decoder if they follow from themselves and from what doesn't change.
; RUN: env TRACKWAY_PASS_OPTIONS=loops=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

; A stride that is only known at run time is recorded once, before the loop.
define void @stride(ptr %p, i64 %stride, i64 %n) {
; CHECK-LABEL: function stride
; CHECK: unit %entry: global
; CHECK-DAG: root [[P:r[0-9]+]] = %p : 8
; CHECK-DAG: set [[Q:r[0-9]+]] = [[P]]
; CHECK-DAG: root [[S:r[0-9]+]] = %stride : 8
; CHECK: repeat
; CHECK-NEXT: access 0 at [[Q]]{{$}}
; CHECK-NEXT: set [[Q]] = [[Q]] + [[S]] * 4
entry:
  br label %loop
loop:
  %q = phi ptr [ %p, %entry ], [ %q.next, %loop ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  store i32 0, ptr %q
  %q.next = getelementptr i32, ptr %q, i64 %stride
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; The outer loop goes on where the inner one stopped. That is left at its end only, so its register is then one step
; ahead of the counter's last value.
define void @nest(ptr %p, i32 %stop, i64 %n) {
; CHECK-LABEL: function nest
; CHECK: set [[OUTER:r[0-9]+]] = 0
; CHECK: unit %outer: local
; CHECK: set [[INNER:r[0-9]+]] = [[OUTER]]
; CHECK: unit %inner: local
; CHECK: access 0 at [[P:r[0-9]+]] + [[INNER]] * 4
; CHECK-NEXT: step [[INNER]] by 1
; CHECK: unit %latch: local
; CHECK-NEXT: access 1 at [[P]] + [[INNER]] * 4 + -4
; CHECK-NEXT: set [[OUTER]] = [[INNER]]{{$}}
entry:
  br label %outer
outer:
  %start = phi i64 [ 0, %entry ], [ %after, %latch ]
  br label %inner
inner:
  %i = phi i64 [ %start, %outer ], [ %i.next, %inner ]
  %a = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %a
  %i.next = add i64 %i, 1
  %again = icmp ult i32 %v, %stop
  br i1 %again, label %inner, label %latch
latch:
  %b = getelementptr i32, ptr %p, i64 %i
  store i32 0, ptr %b
  %after = add i64 %i, 1
  %more = icmp ult i64 %after, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; Left at its end and in its middle: after the loop nobody knows whether the last step was taken. The end of an
; iteration records nothing, so the step is made at the beginning of the next one, and undone where a fresh buffer
; begins.
define i32 @twoexits(ptr %p, i64 %n) {
; CHECK-LABEL: function twoexits
; CHECK: set [[I:r[0-9]+]] = -1
; CHECK: unit %loop: local
; CHECK-NEXT: step [[I]] by -1
; CHECK-NEXT: step [[I]] by 1
; CHECK-NEXT: access 0 at {{r[0-9]+}} + [[I]] * 4
; CHECK-NEXT: unit %found: local
; CHECK-NEXT: root {{r[0-9]+}} = %b : 8
; CHECK-NEXT: access 1
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %a = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %a
  %hit = icmp eq i32 %v, 0
  br i1 %hit, label %found, label %next
next:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %found
found:
  %b = getelementptr i32, ptr %p, i64 %i
  store i32 1, ptr %b
  ret i32 %v
}

; Two values that change places step at the same time, which a sequence of steps does not: they are recorded.
define void @swap(ptr %p, ptr %q, i64 %n) {
; CHECK-LABEL: function swap
; CHECK: unit %loop: local
; CHECK-NEXT: root {{r[0-9]+}} = %a : 8
; CHECK-NEXT: access 0
entry:
  br label %loop
loop:
  %a = phi ptr [ %p, %entry ], [ %b, %loop ]
  %b = phi ptr [ %q, %entry ], [ %a, %loop ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  store i32 0, ptr %a
  store i32 0, ptr %b
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; The block that ends an iteration of the outer loop ends those of the inner one too, so nothing may be stepped there for
; the outer loop.
define void @shared_latch(ptr %p, ptr %q) {
; CHECK-LABEL: function shared_latch
; CHECK: unit %outer: local
; CHECK-NEXT: root [[I:r[0-9]+]] = %i : 8, repeats plus 3
; CHECK-NEXT: access 0 at [[P:r[0-9]+]] + [[I]] * 8
; CHECK: set [[J:r[0-9]+]] = 0
; CHECK: unit %inner: local
; CHECK-NEXT: access 1 at [[Q:r[0-9]+]] + [[J]] * 8
; CHECK-NEXT: step [[J]] by 1
; CHECK-NEXT: unit %done
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %inner ]
  %at.i = getelementptr i64, ptr %p, i64 %i
  store i64 1, ptr %at.i
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %at.j = getelementptr i64, ptr %q, i64 %j
  %what = load i64, ptr %at.j
  %i.next = add i64 %i, 3
  %j.next = add i64 %j, 1
  switch i64 %what, label %done [
    i64 0, label %inner
    i64 1, label %outer
  ]
done:
  ret void
}
