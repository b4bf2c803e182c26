; A long loop asks before each iteration but the first one whether the other copy is to go on. If so, the rest of the loop is
; a function of its own, which has both copies, too.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare void @work(ptr)

define i32 @long(ptr %p, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  call void @work(ptr %p)
  %v = load i32, ptr %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %head, label %done
done:
  ret i32 %v
}

; A loop without calls goes on for long if it has loops in it that do.
define void @nest(ptr %p, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %v = load volatile i32, ptr %p
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, 100
  br i1 %j.more, label %inner, label %outer.end
outer.end:
  %i.next = add i32 %i, 1
  %i.more = icmp ult i32 %i.next, %n
  br i1 %i.more, label %outer, label %done
done:
  ret void
}

; Not if it runs a constant number of times that is small.
define void @small_nest(ptr %p) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %v = load volatile i32, ptr %p
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, 8
  br i1 %j.more, label %inner, label %outer.end
outer.end:
  %i.next = add i32 %i, 1
  %i.more = icmp ult i32 %i.next, 8
  br i1 %i.more, label %outer, label %done
done:
  ret void
}

; A loop without calls and inner loops ends soon.
define i32 @short(ptr %p, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  %v = load volatile i32, ptr %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %head, label %done
done:
  ret i32 %v
}

; A loop that only waits is one record.
define void @wait(ptr %p) {
entry:
  br label %head
head:
  %v = load volatile i32, ptr %p
  call void asm sideeffect "pause", "~{memory}"()
  %over = icmp eq i32 %v, 0
  br i1 %over, label %done, label %head
done:
  ret void
}

; An object's lifetime is marked only where it is in the frame.
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
define void @object(i32 %n) {
entry:
  %x = alloca i32
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  call void @llvm.lifetime.start.p0(i64 4, ptr %x)
  call void @work(ptr %x)
  call void @llvm.lifetime.end.p0(i64 4, ptr %x)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %head, label %done
done:
  ret void
}

; The rest returns 0 where the loop goes on elsewhere.
; CHECK-LABEL: define internal i32 @long.loop.plain(
; CHECK: ret i32 0

; CHECK-LABEL: define internal i32 @object.loop.plain(
; CHECK-NOT: lifetime
; CHECK: ret i32 0

; The plain copy leaves where a window is open.
; CHECK-LABEL: define internal i32 @long.plain(
; CHECK: [[PLACE:%.*]] = load ptr, ptr getelementptr{{.*}}@trackway.module
; CHECK-NEXT: [[OPEN:%.*]] = load atomic i32, ptr [[PLACE]] monotonic
; CHECK-NEXT: [[CHANGES:%.*]] = icmp ne i32 [[OPEN]], 0
; CHECK-NEXT: br i1 [[CHANGES]], label %switch
; CHECK: call i32 @long.loop(ptr %trackway.left

; CHECK-LABEL: define internal void @nest.plain(
; CHECK: call i32 @nest.loop(ptr %trackway.left

; CHECK-LABEL: define internal void @small_nest.plain(
; CHECK-NOT: switch
; CHECK: ret void

; CHECK-LABEL: define internal i32 @short.plain(
; CHECK-NOT: switch
; CHECK: ret i32

; CHECK-LABEL: define internal void @wait.plain(
; CHECK-NOT: switch
; CHECK: ret void

; CHECK-LABEL: define internal void @object.plain(
; CHECK: llvm.lifetime.start

; The recording copy leaves where the thread isn't in the window that is open.
; CHECK-LABEL: define internal i32 @long.traced(
; CHECK: [[OPEN:%.*]] = load atomic i32, ptr %{{.*}} monotonic
; CHECK: [[JOINED:%.*]] = load i32, ptr %
; CHECK: icmp ne i32 [[OPEN]], [[JOINED]]
