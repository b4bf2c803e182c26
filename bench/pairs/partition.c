// A histogram over a large range: by parts of the range that fit the cache.
#include "pair.h"
enum { COUNT = 3000000, RANGE = 1 << 21, PARTS = 32 };
static uint32_t histogram[RANGE], values[COUNT], sorted[COUNT], begin[PARTS + 1];
int main(void) {
    for (int i = 0; i < COUNT; i++)
        values[i] = next_random() % RANGE;
    uint64_t sum = 0;
#ifdef AFTER
    for (int i = 0; i < COUNT; i++)
        begin[values[i] / (RANGE / PARTS) + 1]++;
    for (int i = 0; i < PARTS; i++)
        begin[i + 1] += begin[i];
    for (int i = 0; i < COUNT; i++)
        sorted[begin[values[i] / (RANGE / PARTS)]++] = values[i];
    for (int i = 0; i < COUNT; i++)
        histogram[sorted[i]]++;
#else
    for (int i = 0; i < COUNT; i++)
        histogram[values[i]]++;
#endif
    for (int i = 0; i < RANGE; i++)
        sum += (uint64_t)histogram[i] * i;
    print_sum(sum);
}
