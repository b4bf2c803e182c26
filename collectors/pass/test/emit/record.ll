; The fast path: an id, the roots, the new cursor; no call but the cold one.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

define void @f(i32 %n, ptr %p, i1 %c) {
  %index = zext i32 %n to i64
  %at = getelementptr i8, ptr @table, i64 %index
  store i32 1, ptr %at
  br i1 %c, label %more, label %done
more:
  %i = load i32, ptr %at
  %j = zext i32 %i to i64
  %other = getelementptr i8, ptr @table, i64 %j
  store i32 2, ptr %other
  br label %done
done:
  ret void
}

; CHECK-LABEL: define internal void @f.traced(
; CHECK: [[CURSOR:%.*]] = load volatile ptr, ptr
; CHECK: [[LIMIT:%.*]] = load volatile ptr, ptr
; CHECK: [[FULL:%.*]] = icmp uge ptr [[CURSOR]], [[LIMIT]]
; CHECK-NEXT: br i1 [[FULL]], label %[[COLD:[0-9]+]], label %[[GO:[0-9]+]]
; CHECK: [[FRESH:%.*]] = call preserve_mostcc ptr @__trackway_flush(ptr [[CURSOR]])
; CHECK: [[START:%.*]] = phi ptr [ [[FRESH]], {{.*}} ], [ [[CURSOR]], {{.*}} ]
; CHECK-NEXT: [[BASE:%.*]] = load i32, ptr @trackway.module
; CHECK-NEXT: [[ID:%.*]] = add i32 [[BASE]], 0
; CHECK-NEXT: store volatile i32 [[ID]], ptr [[START]], align 1
; CHECK-NEXT: [[SLOT:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 4
; CHECK-NEXT: store i32 %n, ptr [[SLOT]], align 1
; CHECK: store i32 1, ptr %at
; The second unit has no check. It replaces the id by the one of both units, and adds its root where it is defined.
; CHECK-LABEL: more:
; CHECK-NEXT: [[BASE:%.*]] = load i32, ptr @trackway.module
; CHECK-NEXT: [[BOTH:%.*]] = add i32 [[BASE]], 256
; CHECK-NEXT: store volatile i32 [[BOTH]], ptr [[START]], align 1
; CHECK: %i = load i32, ptr %at
; CHECK: [[SECOND:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 8
; CHECK-NEXT: store i32 %i, ptr [[SECOND]], align 1
; CHECK: store i32 2, ptr %other
; CHECK-LABEL: done:
; CHECK: store volatile ptr %{{.*}}, ptr
; CHECK-NEXT: ret void

; Of a pointer only the lower half is stored, unless the upper one is not what the thread's memory says.
define void @g(ptr %p) {
  store i32 1, ptr %p
  ret void
}

; CHECK-LABEL: define internal void @g.traced(
; CHECK: [[HALF:%.*]] = lshr i64 {{.*}}, 32
; CHECK-NEXT: [[NOW:%.*]] = trunc i64 [[HALF]] to i32
; CHECK: [[KNOWN:%.*]] = load volatile i32, ptr
; CHECK-NEXT: [[DIFFERS:%.*]] = icmp ne i32 [[NOW]], [[KNOWN]]
; CHECK-NEXT: br i1 [[DIFFERS]], label %[[CORRECT:[0-9]+]], label %[[RECORD:[0-9]+]]
; What corrects it is a record of its own, before.
; CHECK: [[CORRECT]]:
; CHECK: store volatile i32 {{%.*}}, ptr [[START:%.*]], align 1
; CHECK: [[ROOT:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 4
; CHECK-NEXT: store i32 {{%.*}}, ptr [[ROOT]], align 1
; CHECK: store volatile i32 {{.*}}, ptr
; CHECK: [[RECORD]]:
; CHECK: [[BITS:%.*]] = ptrtoint ptr %p to i64
; CHECK-NEXT: [[LOW:%.*]] = trunc i64 [[BITS]] to i32
; CHECK: store i32 [[LOW]], ptr {{.*}}, align 1

; Where the pointer is known only when the record is begun, its root and a copy of the record go behind the record and
; four zeros; one store makes them the stream.
define void @late(ptr %g) {
  store i32 1, ptr @table
  %p = load ptr, ptr %g
  store i32 1, ptr %p
  ret void
}

; CHECK-LABEL: define internal void @late.traced(
; CHECK: [[DIFFERS:%.*]] = or i1
; CHECK-NEXT: br i1 [[DIFFERS]], label %[[CORRECT:[0-9]+]], label
; CHECK: [[CORRECT]]:
; CHECK: [[COPY:%.*]] = getelementptr inbounds i8, ptr [[START:%.*]], i32 24
; CHECK: [[RECORD:%.*]] = load i64, ptr
; CHECK-NEXT: [[TO:%.*]] = getelementptr inbounds i8, ptr [[COPY]], i32 0
; CHECK-NEXT: store i64 [[RECORD]], ptr [[TO]], align 1
; CHECK: fence syncscope("singlethread") seq_cst
; CHECK-NEXT: [[BASE:%.*]] = load i32, ptr @trackway.module
; CHECK-NEXT: [[ID:%.*]] = add i32 [[BASE]]
; CHECK-NEXT: store volatile i32 [[ID]], ptr [[START]], align 1
; CHECK: store volatile i32 {{.*}}, ptr

; In a loop ids have one byte, which the next unit's replaces. An expectation that fails there repeats the whole record.
define void @h(ptr %p, i64 %n, ptr %q) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %a = load i16, ptr %p
  %at = getelementptr i8, ptr @table, i16 %a
  store i8 1, ptr %at
  %c = icmp eq i16 %a, 0
  br i1 %c, label %more, label %latch
more:
  %r = load ptr, ptr %q
  store i8 2, ptr %r
  br label %latch
latch:
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define internal void @h.traced(
; CHECK: loop:
; CHECK: store volatile i8 [[FIRST:[0-9]+]], ptr [[START:%.*]], align 1
; CHECK: store i16 %a, ptr
; CHECK: more:
; CHECK: store volatile i8 {{[0-9]+}}, ptr [[START]], align 1
; CHECK: [[DIFFERS:%.*]] = icmp ne ptr %r, %{{.*}}
; CHECK-NEXT: br i1 [[DIFFERS]], label %[[CORRECT:[0-9]+]], label
; CHECK: [[CORRECT]]:
; CHECK: [[ROOT:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 7
; CHECK-NEXT: store ptr %r, ptr [[ROOT]], align 1
; CHECK-NEXT: getelementptr inbounds i8, ptr [[START]], i32 15
; CHECK: fence syncscope("singlethread") seq_cst
; CHECK-NEXT: store volatile i8 {{[0-9]+}}, ptr [[START]], align 1
; CHECK: declare void @__trackway_register(ptr, ptr)

@table = external global [100 x i8]
