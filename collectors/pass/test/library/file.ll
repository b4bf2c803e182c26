; Further functions come from a file, which also replaces what the table says. A line that makes no sense is an error
; that names it.
; RUN: printf '# comment\nmy_hash read(arg0, arg1) # bytes\n\nfill,other write(arg0 + 8, arg1 * 4 - 8) if arg1\nstrlen read(arg0, 7)\n' > %t.good
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0:library-effects=%t.good opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s

declare i32 @my_hash(ptr, i64)
declare void @other(ptr, i32)
declare i64 @strlen(ptr)

define void @f(ptr %p, i64 %n, i32 %m) {
; CHECK-LABEL: function f
; CHECK: block 0 at [[P:r[0-9]+]], length [[N:r[0-9]+]]
; CHECK: block 1 at [[P]] + 8, length
; CHECK: block 2 at [[P]], length 7
  %h = call i32 @my_hash(ptr %p, i64 %n)
  call void @other(ptr %p, i32 %m)
  %l = call i64 @strlen(ptr %p)
  ret void
}

; RUN: printf 'ok read(arg0, arg1)\nmy_hash reads(arg0)\n' > %t.verb
; RUN: not env TRACKWAY_PASS_OPTIONS=library-effects=%t.verb opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=VERB %s
; VERB: library effects file {{.*}}.verb, line 2: expected read(ADDRESS, LENGTH), write(ADDRESS, LENGTH), allocate(ADDRESS, LENGTH) or format(argN, argN) before 'reads(arg0)'; a line is NAME

; RUN: printf 'my_hash read(arg0)\n' > %t.length
; RUN: not env TRACKWAY_PASS_OPTIONS=library-effects=%t.length opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=LENGTH %s
; LENGTH: line 1: expected ',' before ')'

; RUN: printf 'my_hash read(arg0, size)\n' > %t.word
; RUN: not env TRACKWAY_PASS_OPTIONS=library-effects=%t.word opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=WORD %s
; WORD: line 1: expected argN, result, a number, or one of the functions min, {{.*}} before 'size)'

; RUN: printf 'my_hash\n' > %t.nothing
; RUN: not env TRACKWAY_PASS_OPTIONS=library-effects=%t.nothing opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=NOTHING %s
; NOTHING: line 1: expected read(ADDRESS, LENGTH), {{.*}} at the end

; RUN: not env TRACKWAY_PASS_OPTIONS=library-effects=%t.none opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=NONE %s
; NONE: library effects file {{.*}}.none: {{[Nn]}}o such file

; A block is looked at before the call, which has no result then.
; RUN: printf 'my_hash read(arg0, block(result))\n' > %t.early
; RUN: not env TRACKWAY_PASS_OPTIONS=library-effects=%t.early opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=EARLY %s
; EARLY: line 1: expected argN, result, a number, or one of the functions min, {{.*}} before 'block(result))'
