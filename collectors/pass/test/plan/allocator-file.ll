; Further allocation functions come from a file; a line that makes no sense is an error that names it.
; RUN: printf 'pool_take 1 2 -1 # count, size, returned\npool_put free 1\npool_grow realloc 0 1\npool_into - 1 0\n' > %t.good
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0:allocators=%t.good opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s
; RUN: printf '# comment\npool_take one\n' > %t.bad
; RUN: not env TRACKWAY_PASS_OPTIONS=allocators=%t.bad opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=BAD %s
; RUN: not env TRACKWAY_PASS_OPTIONS=allocators=%t.none opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s 2>&1 | FileCheck --check-prefix=NONE %s

; BAD: allocators file {{.*}}.bad, line 2: expected NAME COUNT SIZE POINTER
; NONE: allocators file {{.*}}.none: {{[Nn]}}o such file

declare ptr @pool_take(ptr, i64, i64)
declare void @pool_put(ptr, ptr)
declare ptr @pool_grow(ptr, i64)
declare void @pool_into(ptr, i64)

define void @f(ptr %pool, ptr %where, i64 %n) {
; CHECK-LABEL: function f
; CHECK: allocate 0 at {{r[0-9]+}}, size 24, count {{r[0-9]+}}
; CHECK: reallocate 1 at {{r[0-9]+}}, size 100, count 1, old {{r[0-9]+}}
; CHECK: free 2 at {{r[0-9]+}}
; CHECK: allocate 3 at {{r[0-9]+}}, size 8, count 1
  %p = call ptr @pool_take(ptr %pool, i64 %n, i64 24)
  %q = call ptr @pool_grow(ptr %p, i64 100)
  call void @pool_put(ptr %pool, ptr %q)
  call void @pool_into(ptr %where, i64 8)
  ret void
}
