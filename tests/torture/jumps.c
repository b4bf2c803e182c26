// flags:
// tries: setjmp and longjmp out of loops, irreducible loops, several exits, duplicate switch targets, computed goto
#include <setjmp.h>
#include <stdio.h>
static jmp_buf env;
static int data[64], hits[8];
__attribute__((noinline)) static void probe(int i) {
    data[i & 63] += i;
    if (i % 11 == 10)
        longjmp(env, i);
}
__attribute__((noinline)) static int leap(int n) {
    volatile int start = 0;
    int got = setjmp(env);
    if (got) {
        hits[0] += got;
        start = got + 1;
    }
    for (int i = start; i < n; i++) {
        data[(i * 3) & 63]++;
        probe(i);
        data[(i * 5) & 63] ^= i;
    }
    return start;
}
__attribute__((noinline)) static int tangle(int *p, int n) {
    int i = 0, s = 0;
    if (n & 1)
        goto middle;
top:
    s += p[i];
    if (s & 1) {
        p[i + 1] += s;
    } else
        goto other;
middle:
    i++;
    p[i] ^= n;
    if (i < n)
        goto top;
    return s;
other:
    i += 2;
    p[i]++;
    if (i < n)
        goto middle;
    return -s;
}
__attribute__((noinline)) static int exits(int *p, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j += 3) {
            if (p[j] == 77)
                return j;
            if (p[j] & 1)
                continue;
            p[j]++;
            if (p[j] > 1000)
                break;
            for (int k = j; k > 0; k /= 2) {
                p[k] += 2;
                if (p[k] % 13 == 0)
                    goto next;
            }
        }
        p[i]--;
    next:;
    }
    return p[n / 2];
}
__attribute__((noinline)) static int pick(const unsigned char *c, int n, int *q) {
    int s = 0;
    for (int i = 0; i < n; i++)
        switch (c[i]) {
        case 0:
        case 7:
        case 9:
            s += q[0];
            break;
        case 1:
            q[1]++;
        case 2:
            s ^= q[2];
            break;
        case 3:
        case 11:
        case 100 ... 140:
            q[3] += s;
            break;
        case 200:
            return s;
        case 5:
            continue;
        default:
            s += q[c[i] & 7];
        }
    return s;
}
__attribute__((noinline)) static int run(const unsigned char *c, int *r) {
    static void *table[] = {&&add, &&mul, &&jump, &&stop};
    static const int offset[] = {&&add - &&add, &&mul - &&add};
#define NEXT goto *table[*c++ & 3]
    int n = 0;
    NEXT;
add:
    r[n & 7] += n++;
    NEXT;
mul:
    r[n & 7] *= 3;
    n += offset[0];
    NEXT;
jump:
    if (n < 30)
        c -= 3;
    n += 2;
    NEXT;
stop:
    return n + (offset[1] != 0);
}
__attribute__((noinline)) static int lazy(const char *c) {
    static void *t[3];
    int a = 1;
    if (!t[0]) {
        t[0] = &&inc;
        t[1] = &&dbl;
        t[2] = &&end;
    }
    goto *t[*c++ - '0'];
inc:
    a++;
    goto *t[*c++ - '0'];
dbl:
    a *= 2;
    goto *t[*c++ - '0'];
end:
    return a;
}
int main(void) {
    int p[64], q[8] = {1, 2, 3, 4, 5, 6, 7, 8}, r[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    unsigned char c[100];
    for (int i = 0; i < 64; i++)
        p[i] = i * 7 % 23;
    for (int i = 0; i < 100; i++)
        c[i] = (unsigned char)(i * 37 % 150);
    printf("%d %d %d %d %d ", leap(40), tangle(p, 20), tangle(p, 31), exits(p, 60), pick(c, 100, q));
    printf("%d %d %d\n", run((const unsigned char *)"\0\1\0\2\1\0\3", r), lazy("0101100112"), lazy("012"));
    long h = 0;
    for (int i = 0; i < 64; i++)
        h = h * 31 + p[i] + data[i] + hits[i & 7] + q[i & 7] + r[i & 7];
    printf("%ld\n", h);
    return 0;
}
