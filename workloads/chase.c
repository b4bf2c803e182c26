// Pointer chase: one long cycle through all elements in random order, each on a cache line of its own.
#include "random.h"
#include "region.h"
#include "size.h"

enum { FULL_ELEMENTS = 1 << 19, SMALL_ELEMENTS = 1 << 10, ROUNDS = 20, STEPS = 1024 };

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

// Goes on with the sum; returns where it has come to.
static const struct element *chase(const struct element *element, size_t steps, uint64_t *sum) {
    uint64_t so_far = *sum;
    for (; steps > 0; steps--) {
        so_far = so_far * 31 + element->value;
        element = element->next;
    }
    *sum = so_far;
    return element;
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_ELEMENTS, SMALL_ELEMENTS);
    struct element *elements = allocate(n, sizeof *elements);
    link_cycle(elements, n);
    const struct element *element = elements;
    uint64_t sum = 0;
    for (size_t step = 0, end; step < n * ROUNDS; step = end) {
        end = end_of_part(step, STEPS, n * ROUNDS);
        TRACKWAY_REGION_BEGIN("chase");
        element = chase(element, end - step, &sum);
        TRACKWAY_REGION_END("chase");
    }
    printf("chase elements %zu sum %016llx\n", n, (unsigned long long)sum);
    free(elements);
    return 0;
}
