; A value of which few bits are known to count takes no more bytes than these.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck %s

@table = global [4096 x i8] zeroinitializer

; CHECK-LABEL: function masked
; CHECK: root {{r[0-9]+}} = %byte : 1{{$}}
; CHECK: root {{r[0-9]+}} = %top : 1{{$}}
; CHECK: root {{r[0-9]+}} = %signed : 2 signed
; CHECK: root {{r[0-9]+}} = %half : 2{{$}}
; CHECK: root {{r[0-9]+}} = %whole : 4 signed
define void @masked(i32 %word) {
  %byte = and i32 %word, 255
  %byte.wide = zext i32 %byte to i64
  %p0 = getelementptr [16 x i8], ptr @table, i64 %byte.wide
  store i8 0, ptr %p0
  %top = lshr i32 %word, 25
  %top.wide = zext i32 %top to i64
  %p1 = getelementptr i8, ptr @table, i64 %top.wide
  store i8 1, ptr %p1
  %signed = ashr i32 %word, 17
  %signed.wide = sext i32 %signed to i64
  %p2 = getelementptr i8, ptr @table, i64 %signed.wide
  store i8 2, ptr %p2
  %half = lshr i32 %word, 17
  %half.wide = zext i32 %half to i64
  %p3 = getelementptr i8, ptr @table, i64 %half.wide
  store i8 3, ptr %p3
  %whole = mul i32 %word, %word
  %whole.wide = sext i32 %whole to i64
  %p4 = getelementptr i8, ptr @table, i64 %whole.wide
  store i8 4, ptr %p4
  ret void
}
