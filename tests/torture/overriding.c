// flags:
// with: overriding_other.c
// tries: weak symbols, aliases, ifuncs, constructors with priorities, const and pure across files, target clones
#include <stdio.h>
extern int fixed(int) __attribute__((const));
extern int peek(const int *) __attribute__((pure));
int order[8], orders;
__attribute__((weak)) int replaced(int *p) {
    *p += 1;
    return 1;
}
__attribute__((weak)) int kept(int *p) {
    *p += 2;
    return 2;
}
int real(int *p) {
    *p *= 3;
    return *p;
}
int other_name(int *p) __attribute__((alias("real")));
int weak_name(int *p) __attribute__((weak, alias("real")));
static int plus(int *p) { return *p += 5; }
static int (*choose(void))(int *) {
    orders += 100;
    return plus;
}
int resolved(int *p) __attribute__((ifunc("choose")));
__attribute__((constructor(101))) static void first(void) { order[orders++ & 7] = 1; }
__attribute__((constructor(102))) static void second(void) { order[orders++ & 7] = 2; }
__attribute__((constructor)) static void third(void) { order[orders++ & 7] = 3; }
__attribute__((destructor)) static void last(void) { printf("end %d\n", orders); }
__attribute__((target_clones("avx2", "default"))) int summed(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * i;
    return s;
}
extern int call_kept(int *p);
extern int call_inline(int x);
static inline __attribute__((ms_abi, noinline)) long windows(long a, double b, long *c, int d, int e, int f) {
    *c += a + (long)b + d * e - f;
    return *c;
}
int main(void) {
    int v = 1, w[50];
    long c = 4;
    for (int i = 0; i < 50; i++)
        w[i] = i;
    for (int i = 0; i < 6; i++) {
        v += replaced(&v) + kept(&v) + real(&v) % 7 + other_name(&v) % 5 + weak_name(&v) % 3 + resolved(&v) % 11 +
             fixed(i) + peek(w + i) + fixed(i);
        w[i]++;
        v += peek(w + i) + call_kept(&v);
        windows(i, 2.5, &c, 3, 4, 5);
        v &= 0xffff;
    }
    printf("%d %d%d%d %d %d %ld\n", v, order[0], order[1], order[2], summed(w, 50), call_inline(3), c);
    return 0;
}
