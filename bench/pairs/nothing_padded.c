// Fields of one thread are padded to lines: nothing is to be gained.
#include "pair.h"
enum { COUNT = 64, ROUNDS = 700000 };
struct counter {
    uint64_t value;
#ifdef AFTER
    char padding[56];
#endif
};
static struct counter counters[COUNT];
int main(void) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            counters[i].value = counters[i].value * 5 + round;
    uint64_t sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += counters[i].value;
    print_sum(sum);
}
