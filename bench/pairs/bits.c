// A sieve of bytes: of bits.
#include "pair.h"
enum { LIMIT = 1 << 21, ROUNDS = 6 };
#ifdef AFTER
static uint64_t crossed[LIMIT / 64];
#define CROSS(i) (crossed[(i) / 64] |= 1ull << (i) % 64)
#define IS_CROSSED(i) (crossed[(i) / 64] >> (i) % 64 & 1)
#else
static uint8_t crossed[LIMIT];
#define CROSS(i) (crossed[i] = 1)
#define IS_CROSSED(i) (crossed[i])
#endif
int main(void) {
    uint64_t count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        memset(crossed, 0, sizeof crossed);
        for (uint64_t i = 2; i < LIMIT; i++) {
            if (IS_CROSSED(i))
                continue;
            count++;
            for (uint64_t j = i * i; j < LIMIT; j += i)
                CROSS(j);
        }
    }
    print_sum(count);
}
