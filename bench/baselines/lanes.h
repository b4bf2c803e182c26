// Masked and gathering accesses, lane by lane, for baselines that treat every access alike.
#ifndef BASELINES_LANES_H
#define BASELINES_LANES_H

#include <stdint.h>

void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size);

void __trackway_oracle_masked(uint64_t function, uint64_t opk, uint64_t address, const uint8_t *mask_bits,
                              uint32_t lanes, uint32_t size, uint32_t stride, uint32_t packed) {
    uint64_t position = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (!(mask_bits[lane / 8] >> lane % 8 & 1))
            continue;
        __trackway_oracle_access(function, opk, address + (packed ? position : lane) * stride, size);
        position++;
    }
}

void __trackway_oracle_gather(uint64_t function, uint64_t opk, const uint64_t *addresses, const uint8_t *mask_bits,
                              uint32_t lanes, uint32_t size) {
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (mask_bits[lane / 8] >> lane % 8 & 1)
            __trackway_oracle_access(function, opk, addresses[lane], size);
}

#endif
