// flags:
// places: start early
// tries: counters that wrap, pointers walking backwards, variable strides, calls on cold paths and in inner loops only
#include <stdio.h>
#include <string.h>
static int t[70000];
static unsigned char bytes[256];
__attribute__((noinline)) static int cold(int *p, int i) {
    p[i & 63] += 3;
    return p[(i + 1) & 63];
}
__attribute__((noinline)) static long wrap8(unsigned char from, int n) {
    long s = 0;
    for (unsigned char i = from; n-- > 0; i += 7) {
        s = s * 3 + bytes[i];
        bytes[i] += (unsigned char)n;
    }
    return s;
}
__attribute__((noinline)) static long wrap16(unsigned short i, int n) {
    long s = 0;
    while (n--) {
        t[i] += n;
        s += t[(unsigned short)(i + 5)];
        i -= 999;
    }
    return s;
}
__attribute__((noinline)) static long signed8(signed char i, int n) {
    long s = 0;
    const int *m = t + 1000;
    while (n--) {
        s = s * 3 + m[i];
        i = (signed char)(i + 5);
    }
    return s;
}
__attribute__((noinline)) static long wrap32(unsigned i, unsigned step, int n) {
    long s = 0;
    while (n--) {
        s += t[i & 0xffff];
        t[i >> 16]++;
        i += step;
    }
    return s;
}
__attribute__((noinline)) static long back(int *end, int *begin, long stride) {
    long s = 0;
    for (int *p = end; p > begin; p -= stride) {
        s = s * 5 + *p;
        p[-1] ^= 3;
    }
    return s;
}
__attribute__((noinline)) static long list(int n, int m) {
    long s = 0;
    int k = 0;
    for (int i = 0; i < n; i++) {
        k += i;
        for (int j = i; j < m; j++, k++) {
            t[k]++;
            s += t[j];
        }
        t[k] ^= i;
        if (t[k] % 97 == 5)
            s += cold(t, k);
    }
    return s + t[k];
}
__attribute__((noinline)) static long inner(int n) {
    long s = 0;
    for (int i = 0; i < n; i++) {
        t[i] += 2;
        for (int j = 0; j < 3; j++)
            s += cold(t + i, j);
        s ^= t[i + 1];
    }
    return s;
}
__attribute__((noinline)) static int partition(int *a, int lo, int hi) {
    int p = a[(lo + hi) / 2], i = lo - 1, j = hi + 1;
    for (;;) {
        do
            i++;
        while (a[i] < p);
        do
            j--;
        while (a[j] > p);
        if (i >= j)
            return j;
        int x = a[i];
        a[i] = a[j];
        a[j] = x;
    }
}
__attribute__((noinline)) static void sort(int *a, int lo, int hi) {
    if (lo < hi) {
        int p = partition(a, lo, hi);
        sort(a, lo, p);
        sort(a, p + 1, hi);
    }
}
__attribute__((noinline)) static long grid(int (*g)[37], int n, __int128 w) {
    long s = 0;
    for (int y = n - 1; y >= 0; y--)
        for (int x = y; x < 37; x += 2) {
            g[y][x] += g[x % n][y];
            s += g[(long)(w + y) % n][x];
        }
    return s;
}
__attribute__((noinline)) static void blocks(char *p, long n) {
    memcpy(p, p + 2000, (size_t)n);
    memset(p + n, 1, (size_t)(n / 2));
    memmove(p + 1, p, (size_t)n);
}
int main(void) {
    for (int i = 0; i < 70000; i++)
        t[i] = (int)(i * 2654435761u >> 20);
    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)(i * 31);
    static int g[40][37];
    for (int i = 0; i < 40 * 37; i++)
        g[i / 37][i % 37] = i;
    char p[4000];
    memset(p, 7, sizeof p);
    for (long n = 0; n < 1000; n = n * 3 + (n == 0))
        blocks(p, n);
    long r[] = {wrap8(200, 300),     wrap16(20, 300), signed8(-3, 300), wrap32(0xfffffff0u, 0x10007u, 100),
                back(t + 500, t, 3), list(50, 60),    inner(40),        grid(g, 36, 5)};
    sort(t, 0, 3000);
    long h = p[5];
    for (int i = 0; i < 3001; i++)
        h = h * 31 + t[i];
    for (int i = 0; i < 8; i++)
        printf("%ld ", r[i]);
    printf("%ld\n", h);
    return 0;
}
