// A list whose nodes lie in random order: in the order in which they are visited.
#include "pair.h"
enum { COUNT = 1 << 20, ROUNDS = 3 };
struct node {
    struct node *next;
    uint64_t value, more[6];
};
int main(void) {
    struct node *nodes = malloc(COUNT * sizeof *nodes);
    uint32_t *order = shuffled(COUNT);
#ifdef AFTER
    in_order(order, COUNT);
#endif
    for (uint32_t i = 0; i < COUNT; i++) {
        nodes[order[i]].next = i + 1 < COUNT ? &nodes[order[i + 1]] : NULL;
        nodes[order[i]].value = i;
    }
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (struct node *node = &nodes[order[0]]; node; node = node->next)
            sum += node->value;
    print_sum(sum);
}
