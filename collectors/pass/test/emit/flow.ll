; What the table says of a function's control flow: pieces of code, how each ends, and which record is its.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-flow>' -disable-output %s | FileCheck %s

@a = external global i32
@b = external global i32
declare void @other()
declare void @stop() noreturn
declare i32 @setjmp(ptr) returns_twice
declare i32 @personality(...)

; The first way of a branch is the one of a true condition. A piece may have no record; an arm's takes the place of the
; record before it.
define void @arms(i1 %c, i1 %d) {
; CHECK-LABEL: flow arms
; CHECK-NEXT: [[ENTRY:[0-9]+]] %entry: branches to [[THEN:[0-9]+]] %then, [[ELSE:[0-9]+]] %else; 2 instructions, record 0{{$}}
; CHECK-DAG: [[ELSE]] %else: goes on to [[JOIN:[0-9]+]] %join; 2 instructions, record {{[12]}} in place of that of [[ENTRY]]{{$}}
; CHECK-DAG: [[THEN]] %then: branches to {{[0-9]+}} %silent, {{[0-9]+}} %then.join_crit_edge; 2 instructions, record {{[12]}} in place of that of [[ENTRY]]{{$}}
; CHECK-DAG: %silent: goes on to [[JOIN]] %join; 1 instruction, no record{{$}}
; CHECK-DAG: [[JOIN]] %join: returns; 2 instructions, record 3{{$}}
entry:
  store i32 1, ptr @a
  br i1 %c, label %then, label %else
then:
  store i32 2, ptr @b
  br i1 %d, label %silent, label %join
silent:
  br label %join
else:
  store i32 4, ptr @b
  br label %join
join:
  store i32 5, ptr @a
  ret void
}

; A branch stays one if both ways lead to the same place.
define void @same(i1 %c) {
; CHECK-LABEL: flow same
; CHECK-NEXT: %entry: branches to [[ONE:[0-9]+]] %entry.done_crit_edge{{.*}}, [[OTHER:[0-9]+]] %entry.done_crit_edge
; CHECK-DAG: [[ONE]] %entry.done_crit_edge{{[0-9]*}}: goes on to [[DONE:[0-9]+]] %done
; CHECK-DAG: [[OTHER]] %entry.done_crit_edge{{[0-9]*}}: goes on to [[DONE]] %done
; CHECK: [[DONE]] %done: returns
entry:
  store i32 1, ptr @a
  br i1 %c, label %done, label %done
done:
  ret void
}

; What a call doesn't come back from has a piece that stops.
define i32 @choice(i32 %n) {
; CHECK-LABEL: flow choice
; CHECK: %entry: chooses to
; CHECK-DAG: %zero: returns; 2 instructions
; CHECK-DAG: [[REST:[0-9]+]] %rest: calls stop to [[AFTER:[0-9]+]] %rest; 1 instruction
; CHECK-DAG: [[AFTER]] %rest: stops
entry:
  switch i32 %n, label %rest [ i32 0, label %zero
                               i32 2, label %zero ]
zero:
  store i32 1, ptr @a
  ret i32 1
rest:
  call void @stop()
  unreachable
}

; A call ends a piece; its function is named, also if the linker may choose another definition.
define weak void @maybe() {
  ret void
}
define void @calls(ptr %f) {
; CHECK-LABEL: flow calls
; CHECK-NEXT: 0 %entry: calls other to 1 %entry; 2 instructions, record 0{{$}}
; CHECK-NEXT: 1 %entry: calls anything to 2 %entry; 1 instruction
; CHECK-NEXT: 2 %entry: calls anything, likely maybe to 3 %entry; 1 instruction
; CHECK-NEXT: 3 %entry: returns; 2 instructions, record
entry:
  store i32 1, ptr @a
  call void @other()
  call void %f()
  call void @maybe()
  store i32 2, ptr @a
  ret void
}

; The second way of a call that may throw is the handler's.
define void @throws() personality ptr @personality {
; CHECK-LABEL: flow throws
; CHECK-NEXT: 0 %entry: calls other to {{[0-9]+}} %fine, {{[0-9]+}} %thrown; 1 instruction
; CHECK-DAG: %thrown: stops
; CHECK-DAG: %fine: returns
entry:
  invoke void @other() to label %fine unwind label %thrown
fine:
  ret void
thrown:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; A loop that is one operation of the record before it.
define void @folded(ptr %p, i64 %n) {
; CHECK-LABEL: flow folded
; CHECK-NEXT: 0 %entry: goes on to 1 %body, enters a loop; {{[0-9]+}} instructions, record 0{{$}}
; CHECK-NEXT: 1 %body: branches to 1 %body, 2 %done, its first way is a loop's; {{[0-9]+}} instructions, no record{{$}}
; CHECK-NEXT: 2 %done: returns
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 0, ptr %q
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}

; The same with the condition the other way round.
define void @folded_by_else(ptr %p, i64 %n) {
; CHECK-LABEL: flow folded_by_else
; CHECK: %body: branches to {{[0-9]+}} %done, {{[0-9]+}} %body, its second way is a loop's
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 0, ptr %q
  %next = add nuw i64 %i, 1
  %enough = icmp uge i64 %next, %n
  br i1 %enough, label %done, label %body
done:
  ret void
}

; What may be reached again by longjmp is not described.
define i32 @again(ptr %buffer) {
; CHECK-LABEL: flow again: not described{{$}}
; CHECK-NOT: {{[0-9]+}} %
entry:
  %r = call i32 @setjmp(ptr %buffer) returns_twice
  ret i32 %r
}
