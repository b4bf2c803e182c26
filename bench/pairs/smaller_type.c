// A table of 64-bit numbers whose values fit 16 bits.
#include "pair.h"
enum { COUNT = 1 << 18, LOOKUPS = 8000000 };
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
    for (int i = 0; i < LOOKUPS; i++)
        sum += table[next_random() % COUNT];
    print_sum(sum);
}
