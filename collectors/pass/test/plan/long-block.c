// A long block is recorded in pieces. Each records for itself what no other unit may rely on, so that a fresh buffer
// needs few roots again, however many addresses are in use.
// RUN: env TRACKWAY_PASS_OPTIONS=calls=0 clang -O0 -fpass-plugin=%plugin -S -emit-llvm -o %t.ll %s 2>&1 | count 0
// RUN: clang -O0 -fno-discard-value-names -S -emit-llvm -o %t.plain.ll %s
// RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %t.plain.ll | FileCheck %s

#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M, n) TEN(M, n##0) TEN(M, n##1) TEN(M, n##2) TEN(M, n##3) TEN(M, n##4) \
    TEN(M, n##5) TEN(M, n##6) TEN(M, n##7) TEN(M, n##8) TEN(M, n##9)
#define SOME(M) HUNDRED(M, 1) HUNDRED(M, 2) HUNDRED(M, 3) HUNDRED(M, 4) HUNDRED(M, 5) HUNDRED(M, 6) HUNDRED(M, 7)
#define MANY(M) SOME(M##a) SOME(M##b)
#define DECLARE_a(n) long a##n = from;
#define DECLARE_b(n) long b##n = from;
#define ADD_a(n) from += a##n;
#define ADD_b(n) from += b##n;

// CHECK-LABEL: function many
// CHECK: root [[LAST:r[0-9]+]] = %b799 : 8
// CHECK: unit %entry: local, checks, resume r0
// CHECK-NOT: r200
// CHECK-SAME: {{$}}
// CHECK: root [[LAST]] = %b799 : 8
long many(long from) {
    MANY(DECLARE_)
    MANY(ADD_)
    return from;
}
