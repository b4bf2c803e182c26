; The fast path: an id, the roots, the new cursor; no call but the cold one.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

define void @f(ptr %p, i1 %c) {
  store i32 1, ptr %p
  br i1 %c, label %more, label %done
more:
  %q = load ptr, ptr %p
  store i32 2, ptr %q
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
; CHECK-NEXT: store i32 [[ID]], ptr [[START]], align 1
; CHECK-NEXT: [[SLOT:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 4
; CHECK-NEXT: store ptr %p, ptr [[SLOT]], align 1
; CHECK-NEXT: [[NEXT:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 12
; CHECK-NEXT: store i32 1, ptr %p
; The second unit has an id of one byte, no check, and its root where it is defined.
; CHECK-LABEL: more:
; CHECK-NEXT: store i8 1, ptr [[NEXT]], align 1
; CHECK: %q = load ptr, ptr %p
; CHECK: store ptr %q, ptr
; CHECK: store i32 2, ptr %q
; CHECK-LABEL: done:
; CHECK: store volatile ptr %{{.*}}, ptr
; CHECK-NEXT: ret void
; CHECK: declare void @__trackway_register(ptr, ptr)
