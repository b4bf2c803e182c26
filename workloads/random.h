// A small deterministic generator (splitmix64), so that every run and every machine sees the same work.
#ifndef WORKLOADS_RANDOM_H
#define WORKLOADS_RANDOM_H

#include <stdint.h>

static inline uint64_t next_random(uint64_t *state) {
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

// A number in [0, bound).
static inline uint64_t random_below(uint64_t *state, uint64_t bound) { return next_random(state) % bound; }

#endif
