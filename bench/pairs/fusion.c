// Two passes over a large array: one.
#include "pair.h"
enum { COUNT = 1 << 23, ROUNDS = 3 };
static double a[COUNT];
static double scale(double x, int round) { return x * 1.0001 + round; }
int main(void) {
    for (int i = 0; i < COUNT; i++)
        a[i] = i % 100;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
#ifdef AFTER
        for (int i = 0; i < COUNT; i++) {
            a[i] = scale(a[i], round);
            sum += a[i];
        }
#else
        for (int i = 0; i < COUNT; i++)
            a[i] = scale(a[i], round);
        for (int i = 0; i < COUNT; i++)
            sum += a[i];
#endif
    }
    print_sum(sum);
}
