// A scan reads one field of eight: the field in an array of its own.
#include "pair.h"
enum { COUNT = 1 << 21, ROUNDS = 10 };
#ifdef AFTER
struct arc {
    int64_t rest[7];
};
static struct arc arcs[COUNT];
static int64_t costs[COUNT];
#define COST(i) costs[i]
#else
struct arc {
    int64_t cost, rest[7];
};
static struct arc arcs[COUNT];
#define COST(i) arcs[i].cost
#endif
int main(void) {
    uint64_t sum = 0;
    for (int i = 0; i < COUNT; i++) {
        COST(i) = i;
        arcs[i].rest[0] = i;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            if (COST(i) % 3 == round % 3)
                sum += COST(i);
    print_sum(sum);
}
