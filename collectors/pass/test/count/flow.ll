; As many counters as flow conservation leaves free, at the cheapest places.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-count,verify' -S %s | FileCheck %s

declare void @elsewhere()
declare void @ends() noreturn

; Two ways: one counter each, none where they part and none where they meet.
; CHECK-LABEL: define internal void @diamond.traced(
; CHECK-NOT: add i64 %{{.*}}, 1
; CHECK: left:
; CHECK: add i64 %{{.*}}, 1
; CHECK: right:
; CHECK: add i64 %{{.*}}, 1
; CHECK: join:
; CHECK-NEXT: ret void
define void @diamond(i1 %c, ptr %p) {
  br i1 %c, label %left, label %right
left:
  store i32 1, ptr %p
  br label %join
right:
  store i64 2, ptr %p
  br label %join
join:
  ret void
}

; A loop whose iterations are known beforehand is counted before it.
; CHECK-LABEL: define internal void @known.traced(
; CHECK: [[TIMES:%.*]] = add i64 %n, -1
; CHECK: add i64 %{{.*}}, [[TIMES]]
; CHECK: loop:
; CHECK-NOT: trackway
; CHECK: store i32 0, ptr %q
; CHECK-NEXT: %next = add
; CHECK-NEXT: %done = icmp
; CHECK-NEXT: br i1
define void @known(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 0, ptr %q
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; A nest of them is multiplied out, before it.
; CHECK-LABEL: define internal void @nest.traced(
; CHECK: [[INNER:%.*]] = add i64 %m, -1
; CHECK: mul i64 %n, [[INNER]]
; CHECK: inner:
; CHECK-NOT: load i64
; CHECK: latch:
define void @nest(ptr %p, i64 %n, i64 %m) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %q = getelementptr i32, ptr %p, i64 %j
  store i32 0, ptr %q
  %j.next = add nuw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %m
  br i1 %j.done, label %latch, label %inner
latch:
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %exit, label %outer
exit:
  ret void
}

; Others without calls are counted in a register.
; CHECK-LABEL: define internal void @chase.traced(
; CHECK: loop:
; CHECK: [[COUNT:%.*]] = phi i64 [ 0, %entry ], [ [[NEXT:%.*]], %loop ]
; CHECK: [[NEXT]] = add i64 [[COUNT]], 1
; CHECK: exit:
; CHECK: add i64 %{{.*}}, [[NEXT]]
define void @chase(ptr %p) {
entry:
  br label %loop
loop:
  %q = phi ptr [ %p, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %q
  %done = icmp eq ptr %next, null
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; What is called may not return: what stands behind it has a counter of its own.
; CHECK-LABEL: define internal void @calls.traced(
; CHECK: add i64 %{{.*}}, 1
; CHECK: call void @elsewhere()
; CHECK: add i64 %{{.*}}, 1
define void @calls(ptr %p) {
  store i32 1, ptr %p
  call void @elsewhere()
  store i32 2, ptr %p
  ret void
}

; What is defined here and only calls what returns needs none.
; CHECK-LABEL: define internal void @returns.traced(
; CHECK: add i64 %{{.*}}, 1
; CHECK: call void @diamond.traced(
; CHECK-NOT: add i64
; CHECK: ret void
define void @returns(ptr %p) {
  store i32 1, ptr %p
  call void @diamond(i1 true, ptr %p)
  store i32 2, ptr %p
  ret void
}
