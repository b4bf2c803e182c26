// flags:
// tries: structs by value, large and small, packed, unions, bit-fields, long double, compound literals
#include <stdio.h>
#include <string.h>
struct small {
    char c;
    short s;
};
struct large {
    int v[40];
};
struct fp {
    float x;
    double y;
};
struct __attribute__((packed)) packed {
    char c;
    int i;
    long l;
    short s;
};
struct bits {
    unsigned a : 3, b : 11;
    signed c : 7;
    unsigned long d : 43;
};
union u {
    double d;
    unsigned long l;
    unsigned char b[8];
};
__attribute__((noinline)) struct large twist(struct large l, struct small s, struct fp f) {
    for (int i = 0; i < 40; i++)
        l.v[i] = l.v[(i * 7) % 40] + s.c * s.s + (int)(f.x + f.y);
    return l;
}
__attribute__((noinline)) struct fp half(struct fp f) {
    f.x /= 2;
    f.y /= 4;
    return f;
}
__attribute__((noinline)) long pack(struct packed *p, int n) {
    long s = 0;
    for (int i = n - 1; i >= 0; i--) {
        p[i].i += p[i].c;
        p[i].l ^= p[i].s;
        s = s * 3 + p[i].l + p[i].i;
    }
    return s;
}
__attribute__((noinline)) long bits(struct bits *b, int n) {
    long s = 0;
    for (int i = 0; i < n; i++) {
        b[i].a += i;
        b[i].c -= i;
        b[i].b ^= b[i].a;
        b[i].d += b[i].b * 1000003UL;
        s = s * 7 + b[i].a + b[i].c + (long)b[i].d;
    }
    return s;
}
__attribute__((noinline)) long double ld(long double *p, int n) {
    long double s = 0;
    for (int i = 0; i < n; i++) {
        p[i] = p[i] * 1.5L + i;
        s += p[i];
    }
    return s;
}
int main(void) {
    struct large l;
    for (int i = 0; i < 40; i++)
        l.v[i] = i * 3;
    struct small s = {3, 100};
    struct fp f = {1.5f, 9};
    for (int i = 0; i < 5; i++) {
        l = twist(l, s, f);
        f = half(f);
        s.s ^= i;
    }
    long h = 0;
    for (int i = 0; i < 40; i++)
        h = h * 31 + l.v[i];
    struct packed p[9];
    memset(p, 5, sizeof p);
    struct bits b[11];
    memset(b, 0, sizeof b);
    long double d[8];
    for (int i = 0; i < 8; i++)
        d[i] = i;
    union u u;
    u.d = 3.25;
    long t = 0;
    for (int i = 0; i < 8; i++)
        t = t * 3 + u.b[i];
    u.b[7] ^= 0x80;
    printf("%ld %ld %ld %.4Lf %ld %.2f\n", h, pack(p, 9), bits(b, 11), ld(d, 8), t, u.d);
    return 0;
}
