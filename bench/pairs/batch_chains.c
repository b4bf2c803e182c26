// Chains that are followed one after the other: eight at a time, so that their misses overlap.
#include "pair.h"
enum { COUNT = 1 << 20, CHAINS = 64, ROUNDS = 3, TOGETHER = 8 };
struct node {
    struct node *next;
    uint64_t value, more[6];
};
int main(void) {
    struct node *nodes = malloc(COUNT * sizeof *nodes), *heads[CHAINS];
    uint32_t *order = shuffled(COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        int is_last = (i + 1) % (COUNT / CHAINS) == 0;
        nodes[order[i]].next = is_last ? NULL : &nodes[order[i + 1]];
        nodes[order[i]].value = i;
        if (i % (COUNT / CHAINS) == 0)
            heads[i / (COUNT / CHAINS)] = &nodes[order[i]];
    }
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
#ifdef AFTER
        for (int chain = 0; chain < CHAINS; chain += TOGETHER) {
            struct node *at[TOGETHER];
            for (int k = 0; k < TOGETHER; k++)
                at[k] = heads[chain + k];
            while (at[0])
                for (int k = 0; k < TOGETHER; k++) {
                    sum += at[k]->value;
                    at[k] = at[k]->next;
                }
        }
#else
        for (int chain = 0; chain < CHAINS; chain++)
            for (struct node *node = heads[chain]; node; node = node->next)
                sum += node->value;
#endif
    }
    print_sum(sum);
}
