// Records that fit the cache are split: nothing is to be gained.
#include "pair.h"
enum { COUNT = 512, ROUNDS = 80000 };
#ifdef AFTER
static uint32_t hot[COUNT];
struct record {
    uint32_t rest[7];
};
#define HOT(i) hot[i]
#else
struct record {
    uint32_t hot, rest[7];
};
#define HOT(i) records[i].hot
#endif
static struct record records[COUNT];
int main(void) {
    for (int i = 0; i < COUNT; i++)
        HOT(i) = i, records[i].rest[0] = 1;
    uint64_t state = 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            state = (state ^ HOT(i)) * 3;
    print_sum(state);
}
