// A function with more segments than ids of one byte: the busiest have these, the others have two bytes.
// RUN: clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm -o %t.ll %s
// RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='function(mem2reg),trackway-record,verify' -S %t.ll | FileCheck %s

#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M, n) TEN(M, n##0) TEN(M, n##1) TEN(M, n##2) TEN(M, n##3) TEN(M, n##4) \
    TEN(M, n##5) TEN(M, n##6) TEN(M, n##7) TEN(M, n##8) TEN(M, n##9)
#define DECLARE(n) int v##n;
#define STORE(n) \
    case n: \
        v##n = at[n]; \
        break;
HUNDRED(DECLARE, 1) HUNDRED(DECLARE, 2) HUNDRED(DECLARE, 3)

void used(void);

// CHECK-LABEL: define internal void @many.traced(
// The loop's head, and a rare case after it, which is no part of the head's record.
// CHECK: store volatile i8 1, ptr %trackway.cursor
// CHECK: store volatile i16 {{[0-9]+}}, ptr %trackway.cursor
// The loop's end is as busy as its head.
// CHECK: store volatile i8 2, ptr %trackway.cursor
void many(int **first, int **last) {
    for (int **next = first; next != last; ++next) {
        int *at = *next;
        switch (*at) { HUNDRED(STORE, 1) HUNDRED(STORE, 2) HUNDRED(STORE, 3) }
        at[1] = 0;
    }
}
