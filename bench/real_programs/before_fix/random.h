#pragma once

#include <stdint.h>

// Knuth's MMIX generator, of which the upper bits are used.
static inline uint32_t next_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}
