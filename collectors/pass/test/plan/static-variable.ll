; The address of a static variable costs nothing, nor does a constant index into it.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

@table = global [100 x i32] zeroinitializer
@perthread = thread_local global i32 0

define i32 @constant() {
; CHECK-LABEL: function constant
; CHECK-NOT: root
; CHECK: access 0 at @table + 40
  %a = load i32, ptr getelementptr inbounds ([100 x i32], ptr @table, i64 0, i64 10)
  ret i32 %a
}

; An index is a root of its own width, extended as the address computation extends it.
define i32 @indexed(i32 %i) {
; CHECK-LABEL: function indexed
; CHECK: root r0 = %i : 4 signed
; CHECK-NEXT: access 0 at @table + r0 * 4 + 4
  %next = add nsw i32 %i, 1
  %wide = sext i32 %next to i64
  %p = getelementptr inbounds [100 x i32], ptr @table, i64 0, i64 %wide
  %a = load i32, ptr %p
  ret i32 %a
}

; Without nsw the sum may wrap before it is extended, so it is a root itself.
define i32 @wrapping(i32 %i) {
; CHECK-LABEL: function wrapping
; CHECK: root r0 = %next : 4 signed
; CHECK-NEXT: access 0 at @table + r0 * 4{{$}}
  %next = add i32 %i, 1
  %wide = sext i32 %next to i64
  %p = getelementptr inbounds [100 x i32], ptr @table, i64 0, i64 %wide
  %a = load i32, ptr %p
  ret i32 %a
}

; Each thread has its own: no address that a table could hold.
define i32 @threadlocal() {
; CHECK-LABEL: function threadlocal
; CHECK: root r0 = %p : 8
; CHECK-NEXT: access 0 at r0{{$}}
  %p = call ptr @llvm.threadlocal.address.p0(ptr @perthread)
  %a = load i32, ptr %p
  ret i32 %a
}
declare ptr @llvm.threadlocal.address.p0(ptr)
