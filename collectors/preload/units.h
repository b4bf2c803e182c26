// The units that a buffer of allocations consists of: docs/format.md, section 9.
#ifndef TRACKWAY_UNITS_H
#define TRACKWAY_UNITS_H

#include <stdint.h>

enum { UNIT_BYTES = 16, ADDRESS_BITS = 48, MOST_UNITS = 1 << 16 };

enum operation {
    THREAD = 1,
    STACK = 2,
    ARGUMENT = 3,
    ALLOCATED = 16,
    FREED = 17,
    REALLOCATING = 18,
    REALLOCATED = 19,
    KEPT = 20,
    MAPPED = 21,
    UNMAPPED = 22,
    REMAPPING = 23,
    REMAPPED = 24,
    BREAK_MOVED = 25,
    FORKED = 26,
};

enum argument {
    SIZE_ARGUMENT = 0,
    OLD_ARGUMENT = 1,
    OLD_SIZE_ARGUMENT = 2,
    PROTECTION_ARGUMENT = 3,
    DESCRIPTOR_ARGUMENT = 4,
    OFFSET_ARGUMENT = 5,
    ADDRESS_TOP_ARGUMENT = 6,
};

enum by {
    BY_NOTHING = 0,
    BY_MALLOC = 1,
    BY_CALLOC = 2,
    BY_REALLOC = 3,
    BY_REALLOCARRAY = 4,
    BY_FREE = 5,
    BY_ALIGNED_ALLOC = 6,
    BY_POSIX_MEMALIGN = 7,
    BY_MEMALIGN = 8,
    BY_VALLOC = 9,
    BY_PVALLOC = 10,
    BY_NEW = 11,
    BY_NEW_ARRAY = 12,
    BY_DELETE = 13,
    BY_DELETE_ARRAY = 14,
    BY_MMAP = 15,
    BY_MUNMAP = 16,
    BY_MREMAP = 17,
    BY_BRK = 18,
    BY_SBRK = 19,
};

// The first half of a unit.
static inline uint64_t unit_head(uint32_t operation, uint32_t by, uint64_t small, uint64_t delta) {
    return operation | by << 8 | small << 16 | delta << 32;
}

#endif
