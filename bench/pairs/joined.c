// Two arrays that are looked up together at random: one array of pairs.
#include "pair.h"
enum { COUNT = 1 << 23, LOOKUPS = 3000000 };
#ifdef AFTER
static struct {
    uint64_t key, value;
} pairs[COUNT];
#define KEY(i) pairs[i].key
#define VALUE(i) pairs[i].value
#else
static uint64_t keys[COUNT], values[COUNT];
#define KEY(i) keys[i]
#define VALUE(i) values[i]
#endif
int main(void) {
    for (uint64_t i = 0; i < COUNT; i++)
        KEY(i) = i, VALUE(i) = i * i;
    uint64_t sum = 0;
    for (int i = 0; i < LOOKUPS; i++) {
        uint64_t at = next_random() % COUNT;
        sum += KEY(at) ^ VALUE(at);
    }
    print_sum(sum);
}
