; What a loop advances and is elsewhere than expected: 4 bytes if they hold how far, else all 8.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0:loops=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

define void @f(ptr %first, ptr %last, i64 %jump) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %step ], [ %far, %leap ], [ %next, %other ]
  %op = load i32, ptr %at
  call void @used()
  %next = getelementptr i8, ptr %at, i64 4
  switch i32 %op, label %step [ i32 1, label %leap
                                i32 2, label %other
                                i32 3, label %done ]
step:
  br label %loop
leap:
  %far = getelementptr i8, ptr %at, i64 %jump
  br label %loop
other:
  br label %loop
done:
  ret void
}

; CHECK-LABEL: define internal void @f.traced(
; CHECK: [[EXPECTED:%.*]] = getelementptr i8, ptr %trackway.expected.{{[0-9]+}}, i64 4
; CHECK-NEXT: [[DIFFERS:%.*]] = icmp ne ptr %at, [[EXPECTED]]
; CHECK-NEXT: br i1 [[DIFFERS]], label %[[CORRECT:[0-9]+]], label %[[RECORD:[0-9]+]]
; CHECK: [[CORRECT]]:
; CHECK: [[NOW:%.*]] = ptrtoint ptr %at to i64
; CHECK: [[OFF:%.*]] = sub i64 [[NOW]], {{%.*}}
; CHECK-NEXT: [[NEAR:%.*]] = trunc i64 [[OFF]] to i32
; CHECK-NEXT: [[WIDE:%.*]] = sext i32 [[NEAR]] to i64
; CHECK-NEXT: [[FITS:%.*]] = icmp eq i64 [[WIDE]], [[OFF]]
; CHECK-NEXT: br i1 [[FITS]], label %[[SHORT:[0-9]+]], label %[[LONG:[0-9]+]]
; CHECK: [[SHORT]]:
; CHECK: store volatile i32 {{%.*}}, ptr [[START:%.*]], align 1
; CHECK-NEXT: [[ROOT:%.*]] = getelementptr inbounds i8, ptr [[START]], i32 4
; CHECK-NEXT: store i32 [[NEAR]], ptr [[ROOT]], align 1
; CHECK-NEXT: getelementptr inbounds i8, ptr [[START]], i32 8
; CHECK: [[LONG]]:
; CHECK: store ptr %at, ptr {{%.*}}, align 1
; CHECK-NEXT: getelementptr inbounds i8, ptr [[START]], i32 12
; CHECK: [[RECORD]]:

declare void @used()
