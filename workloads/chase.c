// Pointer chase: one long cycle through all elements in random order, each on a cache line of its own.
#include "random.h"
#include "region.h"
#include "size.h"

enum { FULL_ELEMENTS = 1 << 19, SMALL_ELEMENTS = 1 << 10, ROUNDS = 20 };

struct element {
    struct element *next;
    uint64_t value;
    char rest_of_line[48];
};

// Sattolo's shuffle: the permutation is a single cycle.
static void link_cycle(struct element *elements, size_t n) {
    uint64_t random = 1;
    size_t *order = allocate(n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = random_below(&random, i);
        size_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (size_t i = 0; i < n; i++) {
        elements[i].next = &elements[order[i]];
        elements[i].value = i;
    }
    free(order);
}

static uint64_t chase(const struct element *start, size_t steps) {
    uint64_t sum = 0;
    for (const struct element *element = start; steps > 0; steps--) {
        sum = sum * 31 + element->value;
        element = element->next;
    }
    return sum;
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_ELEMENTS, SMALL_ELEMENTS);
    struct element *elements = allocate(n, sizeof *elements);
    link_cycle(elements, n);
    TRACKWAY_REGION_BEGIN("chase");
    uint64_t sum = chase(elements, n * ROUNDS);
    TRACKWAY_REGION_END("chase");
    printf("chase elements %zu sum %016llx\n", n, (unsigned long long)sum);
    free(elements);
    return 0;
}
