; Where one way only leads to a block, its unit continues the record of the one before.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

@a = external global i32
@b = external global i32

; Both arms continue what stands before them, and an arm within an arm the whole path; the join begins anew.
define void @arms(i1 %c, i1 %d) {
; CHECK-LABEL: function arms
; CHECK: unit %entry: global, checks{{$}}
; CHECK: unit %else: local, continues %entry{{$}}
; CHECK: unit %then: local, continues %entry{{$}}
; CHECK: unit %inner: local, continues %then{{$}}
; CHECK: unit %join: local{{$}}
entry:
  store i32 1, ptr @a
  br i1 %c, label %then, label %else
then:
  store i32 2, ptr @b
  br i1 %d, label %inner, label %join
inner:
  store i32 3, ptr @a
  br label %join
else:
  store i32 4, ptr @b
  br label %join
join:
  store i32 5, ptr @a
  ret void
}

; A block that says nothing is passed over.
define void @silent(i1 %c, i1 %d) {
; CHECK-LABEL: function silent
; CHECK: unit %last: local, continues %entry{{$}}
entry:
  store i32 1, ptr @a
  br i1 %c, label %between, label %done
between:
  br i1 %d, label %last, label %done
last:
  store i32 2, ptr @b
  br label %done
done:
  ret void
}

declare void @other()

; A call ends the record.
define void @call(i1 %c) {
; CHECK-LABEL: function call
; CHECK: unit %after: global, checks{{$}}
entry:
  store i32 1, ptr @a
  call void @other()
  br i1 %c, label %after, label %done
after:
  store i32 2, ptr @b
  br label %done
done:
  ret void
}

; What corrects an expectation comes before the whole record: a unit that expects what the path has used begins anew.
; A function sees 32 registers for the high halves of pointers; that of the 33rd is the one of the first.
define void @used(i1 %c, ptr %p0, ptr %p1, ptr %p2, ptr %p3, ptr %p4, ptr %p5, ptr %p6, ptr %p7, ptr %p8, ptr %p9, ptr %p10, ptr %p11, ptr %p12, ptr %p13, ptr %p14, ptr %p15, ptr %p16, ptr %p17, ptr %p18, ptr %p19, ptr %p20, ptr %p21, ptr %p22, ptr %p23, ptr %p24, ptr %p25, ptr %p26, ptr %p27, ptr %p28, ptr %p29, ptr %p30, ptr %p31, ptr %p32) {
; CHECK-LABEL: function used
; CHECK: unit %entry: global
; CHECK: root {{r[0-9]+}} = %p0 : 8, high half repeats
; CHECK: unit %others: local
; CHECK: unit %arm: local{{$}}
; CHECK: root {{r[0-9]+}} = %p32 : 8, high half repeats
entry:
  store i8 0, ptr %p0
  br i1 %c, label %arm, label %others
arm:
  store i8 24, ptr %p32
  br label %done
others:
  store i8 1, ptr %p1
  store i8 2, ptr %p2
  store i8 3, ptr %p3
  store i8 4, ptr %p4
  store i8 5, ptr %p5
  store i8 6, ptr %p6
  store i8 7, ptr %p7
  store i8 8, ptr %p8
  store i8 9, ptr %p9
  store i8 10, ptr %p10
  store i8 11, ptr %p11
  store i8 12, ptr %p12
  store i8 13, ptr %p13
  store i8 14, ptr %p14
  store i8 15, ptr %p15
  store i8 16, ptr %p16
  store i8 17, ptr %p17
  store i8 18, ptr %p18
  store i8 19, ptr %p19
  store i8 20, ptr %p20
  store i8 21, ptr %p21
  store i8 22, ptr %p22
  store i8 23, ptr %p23
  store i8 23, ptr %p24
  store i8 23, ptr %p25
  store i8 23, ptr %p26
  store i8 23, ptr %p27
  store i8 23, ptr %p28
  store i8 23, ptr %p29
  store i8 23, ptr %p30
  store i8 23, ptr %p31
  br label %done
done:
  ret void
}
