// What tells a program in a process from the one before exec.
#ifndef TRACKWAY_IMAGE_H
#define TRACKWAY_IMAGE_H

#include <stdint.h>
#include <sys/auxv.h>

// Hashes the random bytes that the kernel draws at exec. They also seed stack canaries, so only a hash leaves the
// process.
static inline uint32_t identity_of(const uint64_t *random) {
    return random ? (uint32_t)(((random[0] ^ random[1]) * UINT64_C(0x9E3779B97F4A7C15)) >> 32) : 0;
}

static inline uint32_t image_identity(void) { return identity_of((const uint64_t *)getauxval(AT_RANDOM)); }

#endif
