; What a processor does for each access: instructions, and the loads that its address follows from.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

; A chain: each step follows from the load of the one before. The value's address follows from the same loads.
define i64 @chain(ptr %list) {
; CHECK: work 0: 1 instructions, after 1, from elsewhere
; CHECK-NEXT: work 1: 3 instructions, waits for 1, after 1, from elsewhere
; CHECK-LABEL: function chain
entry:
  br label %loop
loop:
  %at = phi ptr [ %list, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %field = getelementptr i8, ptr %at, i64 8
  %value = load i64, ptr %field
  %more = add i64 %sum, %value
  %next = load ptr, ptr %at
  %end = icmp eq ptr %next, null
  br i1 %end, label %done, label %loop
done:
  ret i64 %more
}

@table = external global [100 x i32]
@index = external global [100 x i64]

; An address that follows from another load, which follows from none.
define i32 @gather(i64 %count) {
; CHECK: work 0: 1 instructions{{$}}
; CHECK-NEXT: work 1: {{[0-9]+}} instructions, after 0{{$}}
; CHECK-LABEL: function gather
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %a = getelementptr [100 x i64], ptr @index, i64 0, i64 %i
  %place = load i64, ptr %a
  %b = getelementptr [100 x i32], ptr @table, i64 0, i64 %place
  %value = load i32, ptr %b
  %more = add i32 %sum, %value
  %j = add i64 %i, 1
  %end = icmp eq i64 %j, 100
  br i1 %end, label %done, label %loop
done:
  ret i32 %more
}

; A division counts as 16. One by a constant becomes a multiplication.
define void @division(ptr %p, i64 %x, i64 %y) {
; CHECK: work 0: 17 instructions, from elsewhere
; CHECK-NEXT: work 1: 5 instructions, from elsewhere
; CHECK-LABEL: function division
  %a = udiv i64 %x, %y
  store i64 %a, ptr %p
  %b = udiv i64 %x, 10
  store i64 %b, ptr %p
  ret void
}

; A sum of floating-point numbers takes four cycles for each, whatever else is done: as long as 20 instructions. The address is
; counted by the loop, and the jump is one instruction with its comparison.
define double @sum(ptr %numbers, i64 %count) {
; CHECK: work 0: 4 instructions, waits for 16, from elsewhere
; CHECK-LABEL: function sum
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %a = getelementptr double, ptr %numbers, i64 %i
  %value = load double, ptr %a
  %more = fadd double %sum, %value
  %j = add i64 %i, 1
  %end = icmp eq i64 %j, %count
  br i1 %end, label %done, label %loop
done:
  ret double %more
}

; A product with 5 of vectors is a shift and an addition; of single numbers, one instruction.
define void @products(ptr %p, <2 x i64> %x, i64 %y) {
; CHECK: work 0: 3 instructions, from elsewhere
; CHECK-NEXT: work 1: 3 instructions, from elsewhere
; CHECK-LABEL: function products
  %a = mul <2 x i64> %x, <i64 5, i64 5>
  store <2 x i64> %a, ptr %p
  %b = mul i64 %y, 9
  store i64 %b, ptr %p
  ret void
}

; Structures and arrays are loaded and stored by their elements. The last one comes with the return.
define void @wholes(ptr %from, ptr %to) {
; CHECK: work 0: 2 instructions, from elsewhere
; CHECK-NEXT: work 1: 2 instructions, from elsewhere
; CHECK-NEXT: work 2: 9 instructions, from elsewhere
; CHECK-LABEL: function wholes
  %pair = load { i64, i32 }, ptr %from
  store { i64, i32 } %pair, ptr %to
  store [2 x { <16 x i8>, [3 x float] }] zeroinitializer, ptr %from
  ret void
}
