// flags:
// tries: alloca and arrays of variable length, recursion of two, musttail, const and pure, inline assembly
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int g[100];
static int even(int n, int *p);
static int odd(int n, int *p);
__attribute__((noinline)) static int even(int n, int *p) {
    p[n % 50]++;
    return n == 0 ? 1 : odd(n - 1, p);
}
__attribute__((noinline)) static int odd(int n, int *p) {
    p[n % 50] ^= 1;
    return n == 0 ? 0 : even(n - 1, p);
}
__attribute__((noinline)) static long hop(long n, long *p, long s) {
    p[n & 7] += s;
    if (n == 0)
        return s;
    __attribute__((musttail)) return hop(n - 1, p + (n & 1 ? 1 : -1), s * 3 + *p);
}
__attribute__((noinline)) static void *get(size_t n) { __attribute__((musttail)) return malloc(n); }
__attribute__((noinline)) static void drop(void *p) { __attribute__((musttail)) return free(p); }
__attribute__((noinline, pure)) static int look(const int *p, int i) { return p[i % 100] + p[(i * 7) % 100]; }
__attribute__((noinline, const)) static int square(int x) { return x * x; }
__attribute__((noinline)) static long vla(int n) {
    int a[n], b[n][3];
    char *c = alloca((size_t)n);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i][i % 3] = square(i);
        c[n - 1 - i] = (char)i;
    }
    long s = 0;
    for (int i = 0; i < n; i++)
        s = s * 3 + a[n - 1 - i] + b[i][i % 3] + c[i] + look(g, i) + look(g, i);
    return s;
}
__attribute__((noinline)) static long grow(int n) {
    long s = 0;
    for (int i = 1; i < n; i++) {
        char *p = alloca((size_t)i);
        memset(p, i, (size_t)i);
        s += p[i / 2];
    }
    return s;
}
__attribute__((noinline)) static long assembly(long *p, int n) {
    long s = 0;
    for (int i = 0; i < n; i++) {
        long v;
        __asm__ volatile("movq %1, %0\n\taddq $1, %1" : "=&r"(v), "+m"(p[i]));
        s = s * 3 + v;
        __asm__ volatile("" ::: "memory");
        p[i] ^= s;
        __asm__("leaq (%1,%1,2), %0" : "=r"(v) : "r"(s));
        s += v & 1;
    }
    return s;
}
__attribute__((naked, noinline)) static long raw(__attribute__((unused)) long x) {
    __asm__("leaq 1(%rdi), %rax\n\tret");
}
int main(void) {
    int p[50] = {0};
    long q[20] = {1};
    for (int i = 0; i < 100; i++)
        g[i] = i * 3;
    long v[10] = {3, 1, 4};
    printf("%d %d %ld %ld %ld %ld %ld\n", even(100, p), odd(77, p), hop(20, q + 8, 1), vla(40), grow(60),
           assembly(v, 10), raw(5));
    char *m = get(40);
    strcpy(m, "kept");
    for (int i = 0; i < 4; i++)
        m[i]++;
    puts(m);
    drop(m);
    long h = 0;
    for (int i = 0; i < 50; i++)
        h = h * 3 + p[i];
    for (int i = 0; i < 20; i++)
        h = h * 3 + q[i];
    printf("%ld\n", h);
    return 0;
}
