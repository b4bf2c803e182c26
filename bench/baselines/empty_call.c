// The least that instrumentation by calls can cost: the oracle's calls, which do nothing.
#include <stdint.h>

void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    (void)function, (void)opk, (void)address, (void)size;
}

void __trackway_oracle_masked(uint64_t function, uint64_t opk, uint64_t address, const uint8_t *mask_bits,
                              uint32_t lanes, uint32_t size, uint32_t stride, uint32_t packed) {
    (void)function, (void)opk, (void)address, (void)mask_bits, (void)lanes, (void)size, (void)stride, (void)packed;
}

void __trackway_oracle_gather(uint64_t function, uint64_t opk, const uint64_t *addresses, const uint8_t *mask_bits,
                              uint32_t lanes, uint32_t size) {
    (void)function, (void)opk, (void)addresses, (void)mask_bits, (void)lanes, (void)size;
}
