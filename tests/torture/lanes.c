// flags: -mavx2
// tries: loops with conditions that become masked accesses and gathers, narrow types, strides, reductions
#include <stdio.h>
#define N 203
static int a[N], b[N], c[N], idx[N];
static double d[N], e[N];
static unsigned char u[N];
static short s16[N * 4];
__attribute__((noinline)) static void cond(int n) {
    for (int i = 0; i < n; i++)
        if (a[i] > 50)
            b[i] = c[i] + a[i];
}
__attribute__((noinline)) static double gather(const double *p, const int *ix, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        if (ix[i] & 1)
            s += p[ix[i]];
    return s;
}
__attribute__((noinline)) static long index2(int n) {
    long s = 0;
    for (int i = 0; i < n; i++)
        s += a[idx[i]] ^ b[i];
    return s;
}
__attribute__((noinline)) static void stride(short *p, int n) {
    for (int i = 0; i < n; i++) {
        p[4 * i] += p[4 * i + 1];
        p[4 * i + 2] ^= p[4 * i + 3];
    }
}
__attribute__((noinline)) static void back(double *p, const double *q, int n) {
    for (int i = n - 1; i >= 0; i--)
        p[i] = q[i] * 2 + p[i];
}
__attribute__((noinline)) static int find(const unsigned char *p, int x) {
    int n = 0;
    for (int i = 0; i < N; i++)
        if (p[i] == x)
            n += i;
    return n;
}
__attribute__((noinline)) static void wide(unsigned char *restrict p, const int *restrict q, int n) {
    for (int i = 0; i < n; i++)
        if (q[i] & 4)
            p[i] = (unsigned char)(q[i] >> 2);
}
int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = i * 37 % 101;
        b[i] = i;
        c[i] = i * i;
        idx[i] = i * 91 % N;
        d[i] = i * .5;
        e[i] = i;
        u[i] = (unsigned char)(i * 7);
    }
    for (int i = 0; i < 4 * N; i++)
        s16[i] = (short)(i * 3);
    for (int n = 0; n < N; n += 29) {
        cond(n);
        stride(s16, n);
        back(d, e, n);
        wide(u, a, n);
    }
    double g = gather(d, idx, N);
    long h = index2(N);
    for (int i = 0; i < N; i++)
        h = h * 3 + b[i] + (long)d[i] + u[i] + s16[2 * i];
    printf("%.3f %ld %d\n", g, h, find(u, 7));
    return 0;
}
