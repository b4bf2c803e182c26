// Flags that rows are looked up in, by a byte each: by a bit each.
#include "pair.h"
enum { ROWS = 1 << 25, LOOKUPS = 4000000 };
#ifdef AFTER
static uint64_t flags[ROWS / 64];
#define SET(i) (flags[(i) / 64] |= 1ull << (i) % 64)
#define IS_SET(i) (flags[(i) / 64] >> (i) % 64 & 1)
#else
static uint8_t flags[ROWS];
#define SET(i) (flags[i] = 1)
#define IS_SET(i) (flags[i])
#endif
int main(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ROWS; i += 3)
        SET(i);
    for (int i = 0; i < LOOKUPS; i++) {
        uint64_t row = next_random() % ROWS;
        sum += IS_SET(row);
    }
    print_sum(sum);
}
