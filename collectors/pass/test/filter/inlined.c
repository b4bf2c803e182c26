// Text that was inlined is judged by the function and file that it came from.
// RUN: clang -O1 %fresh %s -o - | opt -load-pass-plugin %plugin -passes='trackway-attribution,always-inline,function(sroa)' -S -o %t.ll

// RUN: echo 'fun:inner' > %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %recordlabelled %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: outer.'

// RUN: echo 'src:*header.h' > %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %recordlabelled %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: outer.'

// RUN: echo 'fun:*' > %t.list
// RUN: echo 'fun:inner=allow' >> %t.list
// RUN: echo 'fun:outer=allow' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %recordlabelled %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: outer.'

// Two accesses without a list, one of them with it.
// RUN: echo 'src:*header.h' > %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %recordlabelled %t.ll | grep -c 'call void @__trackway_oracle_access' | grep -x 1
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0 %recordlabelled %t.ll | grep -c 'call void @__trackway_oracle_access' | grep -x 2

#line 1 "header.h"
static inline __attribute__((always_inline)) int inner(int *p) { return *p; }
#line 100 "inlined.c"
int outer(int *p, int *q) { return inner(p) + *q; }
