// Two fields that are used together lie on two lines: next to each other.
#include "pair.h"
enum { COUNT = 1 << 20, LOOKUPS = 3000000 };
struct item {
#ifdef AFTER
    uint64_t key, value, cold[14];
#else
    uint64_t key, cold[14], value;
#endif
} __attribute__((aligned(64)));
static struct item items[COUNT];
int main(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        items[i].key = i;
        items[i].value = i * 7;
    }
    for (int i = 0; i < LOOKUPS; i++) {
        struct item *item = &items[next_random() % COUNT];
        sum += item->key ^ item->value;
    }
    print_sum(sum);
}
