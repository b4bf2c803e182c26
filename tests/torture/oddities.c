// flags: -mcx16 -Wno-frame-address
// tries: asm goto, __builtin_setjmp, return addresses, clones by target, calling conventions, wide and complex numbers
#include <complex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
static int table[256], log_of[16];
static unsigned long words[64];
__attribute__((noinline)) static int choose(int *p, int n) {
    int seen = 0;
    for (int i = 0; i < n; i++) {
        p[i & 15]++;
        __asm__ goto("testl $1, %0\n\tjnz %l[odd]\n\ttestl $2, %0\n\tjnz %l[second]"
                     :
                     : "r"(p[i & 15])
                     : "cc"
                     : odd, second);
        p[i & 7] += 3;
        continue;
    odd:
        seen += p[(i + 1) & 15];
        continue;
    second:
        p[seen & 15] ^= i;
        __asm__ goto("jmp %l[out]" : : : : out);
    out:
        seen++;
    }
    return seen;
}
__attribute__((noinline)) static int with_output(int *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int half;
        __asm__ goto("movl %1, %0\n\tshrl $1, %0\n\tjc %l[rest]" : "=&r"(half) : "r"(p[i & 15]) : "cc" : rest);
        sum += half + p[half & 15];
        continue;
    rest:
        p[i & 15]--;
    }
    return sum;
}
static void *frame[5];
__attribute__((noinline)) static void leap(int i) {
    table[i & 255] += i;
    if (i % 7 == 6)
        __builtin_longjmp(frame, 1);
}
__attribute__((noinline)) static int builtin_jumps(int n) {
    volatile int i = 0, landed = 0;
    if (__builtin_setjmp(frame))
        landed += table[(i * 3) & 255] + 1;
    while (i < n) {
        int k = i++;
        table[(k * 5) & 255]++;
        leap(k);
        table[(k * 3) & 255] ^= k;
    }
    return landed;
}
__attribute__((noinline)) static long callers(void) {
    char *here = __builtin_frame_address(0), *back = __builtin_return_address(0);
    static char *first;
    if (!first)
        first = back;
    log_of[1]++;
    return (back == first) + 2 * (here != NULL);
}
__attribute__((target_clones("avx2", "default"))) int cloned(const int *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] * 3;
    return sum;
}
__attribute__((ms_abi, noinline)) static long foreign(long a, int *p, long c, long d, long e, long f) {
    p[3] += (int)a;
    return a + 2 * p[1] + 3 * c + 4 * d + 5 * e + 6 * f;
}
__attribute__((regcall, noinline)) static int in_registers(int a, int b, int c, int *p) { return p[a] + p[b] * p[c]; }
__attribute__((preserve_most, noinline)) static void slow_path(int *p) { p[0] += p[1] + 1; }
__attribute__((preserve_all, noinline)) static void slower_path(int *p) { p[2] += p[1] + 1; }
__attribute__((vectorcall, noinline)) static double in_vectors(double a, double b, const double *p) {
    return a * p[0] + b;
}
static long conventions(int n) {
    int p[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    double d[2] = {2.5, 3.5};
    long sum = 0;
    for (int i = 0; i < n; i++) {
        sum += foreign(i, p, 3, 4, 5, 6) + in_registers(i & 7, 1, 2, p) + (long)in_vectors(i, 1, d);
        slow_path(p);
        slower_path(p);
    }
    return sum + p[0] + p[2];
}
typedef unsigned _BitInt(93) wide;
struct mixed {
    wide bits;
    unsigned _BitInt(17) few;
    __int128 big;
    long double real;
    float _Complex plane;
};
__attribute__((noinline)) static void numbers(struct mixed *m, int n) {
    for (int i = 1; i <= n; i++) {
        m[i % 3].bits = m[(i + 1) % 3].bits * 3u + (wide)i;
        m[i % 3].few += (unsigned _BitInt(17))i;
        m[i % 3].big = m[i % 3].big * 1000003 + m[(i + 2) % 3].few;
        m[i % 3].real += 1.0L / i;
        m[i % 3].plane *= m[(i + 1) % 3].plane + (float)i * I;
        m[i % 3].plane /= 64;
    }
}
static _Atomic __int128 pair;
static unsigned long copies(int n) {
    unsigned long sum = 0;
    for (int i = 0; i < n; i++) {
        __builtin_nontemporal_store(words[i & 63] + (unsigned long)i, &words[(i + 1) & 63]);
        __builtin_prefetch(&words[(i + 9) & 63]);
        sum += __builtin_nontemporal_load(&words[(i * 3) & 63]);
        __builtin_memcpy_inline(&words[32], &words[i & 15], 24);
        pair += i;
    }
    return sum + (unsigned long)pair;
}
static void drop(int *p) { log_of[2] += *p; }
static int scoped(int n) {
    for (int i = 0; i < n; i++) {
        __attribute__((cleanup(drop))) int own = i;
        if (i % 3 == 0)
            continue;
        own += ({
            int *p = &table[i & 255];
            *p += 2;
            *p;
        });
        if (own > 2000)
            break;
    }
    return log_of[2];
}
static int real_one(int i) { return table[i & 255] + 1; }
int other_name(int) __attribute__((alias("real_one_exported"), weak));
int real_one_exported(int i) { return real_one(i) * 2; }
extern int missing(int) __attribute__((weak));
int main(void) {
    int p[16] = {0};
    printf("%d %d %d\n", choose(p, 500), with_output(p, 100), builtin_jumps(60));
    long back = 0;
#pragma clang loop unroll(disable)
    for (int i = 0; i < 5; i++)
        back += callers();
    printf("%ld %d %ld\n", back, cloned(table, 256), conventions(20));
    struct mixed m[3];
    memset(m, 0, sizeof m);
    m[0].plane = 1 + 2 * I;
    numbers(m, 50);
    printf("%lx %lx %.6Lf %.4f\n", (unsigned long)m[1].bits, (unsigned long)m[2].big, m[0].real,
           (double)cimagf(m[1].plane));
    printf("%lu %d %d %d\n", copies(200), scoped(90), other_name(3), missing ? missing(1) : -1);
    return 0;
}
