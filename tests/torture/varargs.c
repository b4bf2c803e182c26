// flags:
// tries: variable arguments: own, forwarded to vprintf, walked twice
#include <stdarg.h>
#include <stdio.h>
struct pair {
    long a, b;
};
struct big {
    int v[20];
};
__attribute__((noinline)) static long sum(int n, ...) {
    va_list ap, again;
    long s = 0;
    va_start(ap, n);
    va_copy(again, ap);
    for (int i = 0; i < n; i++)
        s = s * 3 + va_arg(ap, int);
    for (int i = 0; i < n; i++)
        s = s * 5 + va_arg(again, int);
    va_end(ap);
    va_end(again);
    return s;
}
__attribute__((noinline)) double mixed(const char *f, ...) {
    va_list ap;
    double s = 0;
    va_start(ap, f);
    for (; *f; f++)
        switch (*f) {
        case 'i':
            s = s * 3 + va_arg(ap, int);
            break;
        case 'd':
            s = s * 3 + va_arg(ap, double);
            break;
        case 'L':
            s = s * 3 + (double)va_arg(ap, long double);
            break;
        case 'p': {
            struct pair p = va_arg(ap, struct pair);
            s += p.a * p.b;
            break;
        }
        case 'B': {
            struct big b = va_arg(ap, struct big);
            for (int i = 0; i < 20; i++)
                s += b.v[i] * i;
            break;
        }
        }
    va_end(ap);
    return s;
}
__attribute__((format(printf, 1, 2))) void say(const char *f, ...) {
    va_list ap;
    va_start(ap, f);
    vprintf(f, ap);
    va_end(ap);
}
int main(void) {
    struct big b;
    for (int i = 0; i < 20; i++)
        b.v[i] = i * i;
    say("%ld %d %s %.3f\n", sum(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 4, "x", 2.5);
    double (*volatile f)(const char *, ...) = mixed;
    say("%.6f\n", f("iddLpBddddddddi", 3, 1.5, 2.5, 3.25L, (struct pair){6, 7}, b, 1., 2., 3., 4., 5., 6., 7., 8., 9));
    return 0;
}
