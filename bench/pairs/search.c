// Binary search in a large sorted array: the keys in the order in which a search meets them (Eytzinger).
#include "pair.h"
enum { BITS = 24, COUNT = (1 << BITS) - 1, SEARCHES = 300000 };
static uint32_t keys[COUNT + 1];
#ifdef AFTER
static uint32_t tree[COUNT + 1];
static uint32_t fill(uint32_t next, uint32_t at) {
    if (at > COUNT)
        return next;
    next = fill(next, 2 * at);
    tree[at] = keys[next++];
    return fill(next, 2 * at + 1);
}
#endif
int main(void) {
    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = 2 * i;
#ifdef AFTER
    fill(0, 1);
#endif
    uint64_t sum = 0;
    for (int i = 0; i < SEARCHES; i++) {
        uint32_t key = next_random() % (2 * COUNT), found = 0;
#ifdef AFTER
        uint32_t at = 1;
        while (at <= COUNT) {
            uint32_t here = tree[at];
            found = here <= key ? here : found;
            at = 2 * at + (here <= key);
        }
#else
        uint32_t low = 0, size = COUNT + 1;
        while (size > 1) {
            size /= 2;
            uint32_t here = keys[low + size - 1];
            low += here <= key ? size : 0;
            found = here <= key ? here : found;
        }
#endif
        sum += found;
    }
    print_sum(sum);
}
