; In a loop, roots that mostly are what the decoder knows already are stored only when they differ from it.
; RUN: env TRACKWAY_PASS_OPTIONS=loops=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

; A pointer that is loaded anew in each iteration from the same place, here through another one.
define void @same_place(ptr %g, i64 %n) {
; CHECK-LABEL: function same_place
; CHECK: unit %entry: global
; CHECK-DAG: forget [[A:r[0-9]+]]
; CHECK-DAG: forget [[B:r[0-9]+]]
; CHECK: unit %loop: local
; CHECK: root [[A]] = %a : 8, repeats{{$}}
; CHECK: root [[B]] = %b : 8, repeats{{$}}
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %a = load ptr, ptr %g
  %field = getelementptr i8, ptr %a, i64 8
  %b = load ptr, ptr %field
  %at = getelementptr i32, ptr %b, i64 %i
  store i32 1, ptr %at
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Of a list's nodes the high half repeats: the register is put together from halves.
define void @list(ptr %first) {
; CHECK-LABEL: function list
; CHECK: unit %loop: local
; CHECK-NEXT: root {{r[0-9]+}} = %node : 8, high half repeats
entry:
  br label %loop
loop:
  %node = phi ptr [ %first, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %node
  %more = icmp ne ptr %next, null
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Most paths through the loop advance by 4, one by what it reads.
define void @program(ptr %code) {
; CHECK-LABEL: function program
; CHECK: unit %loop: local
; CHECK-NEXT: root {{r[0-9]+}} = %at : 8, repeats plus 4
entry:
  br label %loop
loop:
  %at = phi ptr [ %code, %entry ], [ %next, %latch ]
  %op = load i32, ptr %at
  %following = getelementptr i8, ptr %at, i64 4
  switch i32 %op, label %done [ i32 0, label %latch
                                i32 1, label %one
                                i32 2, label %jump ]
one:
  br label %latch
jump:
  %far = getelementptr i8, ptr %at, i64 400
  br label %latch
latch:
  %next = phi ptr [ %following, %loop ], [ %following, %one ], [ %far, %jump ]
  br label %loop
done:
  ret void
}

; Registers outlive the calls of a loop, and what it advances by one constant is remembered across them.
define void @calls(ptr %first, ptr %last) {
; CHECK-LABEL: function calls
; CHECK: unit %loop: global, checks, resume [[AT:r[0-9]+]]{{$}}
; CHECK-NEXT: step [[AT]] by -4
; CHECK-NEXT: step [[AT]] by 4
; CHECK-NEXT: access 0 at [[AT]]
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %loop ]
  store i32 1, ptr %at
  call void @used()
  %next = getelementptr i8, ptr %at, i64 4
  %more = icmp ne ptr %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}

declare void @used()

; But not if the function calls itself, which would remember something else.
define void @calls_itself(ptr %first, ptr %last) {
; CHECK-LABEL: function calls_itself
; CHECK: root {{r[0-9]+}} = %at : 8, high half repeats{{$}}
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %loop ]
  store i32 1, ptr %at
  call void @calls_itself(ptr %first, ptr %at)
  %next = getelementptr i8, ptr %at, i64 4
  %more = icmp ne ptr %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Outside of a loop nothing is expected.
define void @once(ptr %g) {
; CHECK-LABEL: function once
; CHECK: root {{r[0-9]+}} = %a : 8, high half repeats{{$}}
  %a = load ptr, ptr %g
  store i32 1, ptr %a
  ret void
}

; A counter that is known in its loop but not behind it is recorded there: the decoder has stepped its register, so it
; holds nothing to compare with.
define void @counted(ptr %p, i64 %n) {
; CHECK-LABEL: function counted
; CHECK: unit %found: local
; CHECK: root {{r[0-9]+}} = %i : 8{{$}}
entry:
  br label %outer
outer:
  %start = phi i64 [ 0, %entry ], [ %i, %found ]
  br label %inner
inner:
  %i = phi i64 [ %start, %outer ], [ %i.next, %next ]
  %at = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %at
  %zero = icmp eq i32 %v, 0
  br i1 %zero, label %found, label %next
next:
  %i.next = add nsw i64 %i, 1
  %more = icmp slt i64 %i, %n
  br i1 %more, label %inner, label %done
found:
  store i32 1, ptr %at
  %again = icmp slt i64 %i, %n
  br i1 %again, label %outer, label %done
done:
  ret void
}
