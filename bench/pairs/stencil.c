// Steps of a stencil over a large array, one after the other: several steps for each part of it.
#include "pair.h"
enum { COUNT = 1 << 23, STEPS = 4, PART = 8192 };
static double a[COUNT + STEPS + 1];
// In place, so that a step of a part needs only its left neighbour of the step before.
static void step(int from, int to) {
    for (int i = from; i < to; i++)
        a[i] = 0.5 * a[i] + 0.5 * a[i + 1];
}
int main(void) {
    for (int i = 0; i < COUNT; i++)
        a[i] = i % 100;
#ifdef AFTER
    for (int part = 0; part < COUNT + STEPS; part += PART)
        for (int s = 0; s < STEPS; s++) {
            int from = part - s, to = part + PART - s;
            step(from < 0 ? 0 : from, to > COUNT ? COUNT : to);
        }
#else
    for (int s = 0; s < STEPS; s++)
        step(0, COUNT);
#endif
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += a[i];
    print_sum(sum);
}
