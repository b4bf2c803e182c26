; The table's last list says how often counters are added to, in memory (kind 0) and in registers (kind 1).
; Each is the kind, and a sum: number of terms, counter × 2, factor × 2. (By LLVM 16 another edge
; of the function's flow is counted, so that its executions are a derived variable: × 2 + 1.)
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-count,verify' -S %s | FileCheck %s

; CHECK: c"TWTABLE{{.*}}\05\00\02\00\02\02\02\00{{(\\01\\06\\04|\\02\\06\\02\\07\\02)}}\00{{(\\01\\0A\\04|\\02\\0A\\02\\0B\\02)}}\01\01\08\02\00\01\0C\06", section

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Counters 0 and 1, each for a way.
define void @diamond(i1 %c, ptr %p) {
  br i1 %c, label %left, label %right
left:
  store i32 1, ptr %p
  br label %join
right:
  store i64 2, ptr %p
  br label %join
join:
  ret void
}

; Counter 2 for the loop is added to before it, as often as counter 3, which is the function's.
define void @ahead(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 0, ptr %q
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Counter 4 for the loop is in a register, and in memory once when it is left; counter 5 is the function's.
define void @walk(ptr %list) {
entry:
  br label %loop
loop:
  %node = phi ptr [ %list, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %node
  %last = icmp eq ptr %next, null
  br i1 %last, label %exit, label %loop
exit:
  ret void
}

; Bytes and number of fills, as often as the function's counter 6.
define void @fill(ptr %p, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  ret void
}
