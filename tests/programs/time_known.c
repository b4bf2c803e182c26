// Loads whose time is known: each waits for the one before, or none does, or each waits for a store of the same word.
// Prints a sum, so that nothing is left out.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1 << 16, ROUNDS = 4, WORDS = 1 << 8, COUNTS = 1 << 16 };

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

// In one word each turn waits for the one before; of many, none does. The masks are the program's secret.
static volatile uint64_t of_many = WORDS - 1, of_one = 0;

__attribute__((noinline)) static void count_in_many(uint64_t *counters, uint64_t mask) {
    for (uint64_t i = 0; i < COUNTS; i++)
        counters[i & mask] += i;
}

__attribute__((noinline)) static void count_in_one(uint64_t *counters, uint64_t mask) {
    for (uint64_t i = 0; i < COUNTS; i++)
        counters[i & mask] += i;
}

int main(void) {
    for (uint32_t i = 0; i < LINES; i++) {
        nodes[i].next = &nodes[after(i)];
        nodes[i].value[0] = i;
        numbers[i * 8] = i;
    }
    static uint64_t counters[WORDS];
    count_in_many(counters, of_many);
    count_in_one(counters, of_one);
    uint64_t sum = chase(nodes, (uint64_t)LINES * ROUNDS) + gather((uint64_t)LINES * ROUNDS);
    printf("%llu\n", (unsigned long long)sum + counters[0]);
}
