// Loads whose time is known: each waits for the one before, or none does. Prints a sum, so that nothing is left out.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1 << 16, ROUNDS = 4 };

struct node {
    struct node *next;
    uint64_t value[7];
};

static struct node nodes[LINES];
static uint64_t numbers[LINES * 8];

// A cycle through all lines whose steps no prefetcher foresees: a full period of a linear congruential generator.
static uint32_t after(uint32_t place) { return (place * 1664525u + 1013904223u) % LINES; }

__attribute__((noinline)) static uint64_t chase(struct node *at, uint64_t steps) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < steps; i++) {
        sum += at->value[0];
        at = at->next; // chase
    }
    return sum;
}

__attribute__((noinline)) static uint64_t gather(uint64_t steps) {
    uint64_t sum = 0;
    uint32_t place = 0;
    for (uint64_t i = 0; i < steps; i++) {
        sum += numbers[place * 8]; // gather
        place = after(place);
    }
    return sum;
}

int main(void) {
    for (uint32_t i = 0; i < LINES; i++) {
        nodes[i].next = &nodes[after(i)];
        nodes[i].value[0] = i;
        numbers[i * 8] = i;
    }
    uint64_t sum = chase(nodes, (uint64_t)LINES * ROUNDS) + gather((uint64_t)LINES * ROUNDS);
    printf("%llu\n", (unsigned long long)sum);
}
