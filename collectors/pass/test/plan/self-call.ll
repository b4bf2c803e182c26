; Behind a call of itself the decoder is in the same function still; other calls leave it elsewhere.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s \
; RUN:   | FileCheck %s --check-prefix=MARKS

declare void @other()

define void @walk(ptr %node) {
; CHECK-LABEL: function walk
; CHECK: unit %inner: global, checks
; CHECK: access 0
; CHECK: unit %inner: local, checks
; CHECK: access 1
; CHECK: unit %inner: global, checks
; CHECK: access 2
; Without a record of its return the function may end in another one's.
; MARKS-LABEL: function walk
; MARKS: access 0
; MARKS: unit %inner: global, checks
; MARKS: access 1
entry:
  %none = icmp eq ptr %node, null
  br i1 %none, label %done, label %inner
inner:
  %next = load ptr, ptr %node
  call void @walk(ptr %next)
  %left = getelementptr i8, ptr %node, i64 8
  store i64 1, ptr %left
  call void @other()
  %right = getelementptr i8, ptr %node, i64 16
  store i64 2, ptr %right
  br label %done
done:
  ret void
}

; Another definition may take the place of a weak one.
define weak void @weak_walk(ptr %node) {
; CHECK-LABEL: function weak_walk
; CHECK: access 0
; CHECK: unit %inner: global, checks
; CHECK: access 1
entry:
  %none = icmp eq ptr %node, null
  br i1 %none, label %done, label %inner
inner:
  %next = load ptr, ptr %node
  call void @weak_walk(ptr %next)
  %left = getelementptr i8, ptr %node, i64 8
  store i64 1, ptr %left
  br label %done
done:
  ret void
}
