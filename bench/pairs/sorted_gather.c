// A gather by indices in random order: sorted.
#include "pair.h"
enum { COUNT = 1 << 23, ROUNDS = 2 };
static uint64_t values[COUNT];
int main(void) {
    uint32_t *order = shuffled(COUNT);
#ifdef AFTER
    in_order(order, COUNT);
#endif
    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = i * 3;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < COUNT; i++)
            sum += values[order[i]] ^ round;
    print_sum(sum);
}
