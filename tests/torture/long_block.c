// flags:
// tries: blocks of thousands of accesses through pointers that are all in use at once, a switch of many cases
#include <stdio.h>

#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M, n)                                                                                                  \
    TEN(M, n##0)                                                                                                       \
    TEN(M, n##1)                                                                                                       \
    TEN(M, n##2) TEN(M, n##3) TEN(M, n##4) TEN(M, n##5) TEN(M, n##6) TEN(M, n##7) TEN(M, n##8) TEN(M, n##9)
#define MANY(M)                                                                                                        \
    HUNDRED(M, 1)                                                                                                      \
    HUNDRED(M, 2)                                                                                                      \
    HUNDRED(M, 3)                                                                                                      \
    HUNDRED(M, 4) HUNDRED(M, 5) HUNDRED(M, 6) HUNDRED(M, 7) HUNDRED(M, 8) HUNDRED(M, 9)
#define COUNT 1000

static long values[COUNT], *pointers[COUNT];

#define TAKE(n) long *p##n = from[(n * 7) % COUNT];
#define ADD(n) *p##n += n;
#define MIX(n) *p##n ^= *p500 + n;
__attribute__((noinline)) static void pass(long **from) { MANY(TAKE) MANY(ADD) MANY(MIX) }

#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        values[n] += *at++;                                                                                            \
        break;
__attribute__((noinline)) static long choose(const long *at, int count) {
    for (int i = 0; i < count; i++)
        switch (i) { MANY(CASE) }
    return *at;
}

int main(void) {
    for (int i = 0; i < COUNT; i++)
        pointers[i] = values + i;
    for (int i = 0; i < 5; i++)
        pass(pointers);
    static long from[COUNT + 1];
    for (int i = 0; i <= COUNT; i++)
        from[i] = i;
    long hash = choose(from, COUNT);
    for (int i = 0; i < COUNT; i++)
        hash = hash * 31 + values[i];
    printf("%ld\n", hash);
    return 0;
}
