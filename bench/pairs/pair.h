// What the pairs of programs share. Each file is two programs: as it was, and, with -DAFTER, as an engineer changed it.
// Both print the same.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 88172645463325252u;

// Marsaglia's xorshift64.
static inline uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

// The numbers below `count` in a random order.
static inline uint32_t *shuffled(uint32_t count) {
    uint32_t *order = malloc(count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = next_random() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return order;
}

static inline void in_order(uint32_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
}

static inline void print_sum(uint64_t sum) { printf("%llu\n", (unsigned long long)sum); }
