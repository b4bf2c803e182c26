// A scan over 64-bit numbers whose values fit 16 bits.
#include "pair.h"
enum { COUNT = 1 << 24, ROUNDS = 3 };
#ifdef AFTER
typedef uint16_t entry;
#else
typedef uint64_t entry;
#endif
static entry table[COUNT];
int main(void) {
    for (int i = 0; i < COUNT; i++)
        table[i] = i % 1000;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            sum += table[i];
        table[round]++;
    }
    print_sum(sum);
}
