// Blocks in far memory: a range of addresses that is mapped from a file, or bound to a NUMA node.
#ifndef TRACKWAY_PLACE_FAR_H
#define TRACKWAY_PLACE_FAR_H

#include "plan.h"

#include <stdbool.h>

// Maps the memory, or ends the program.
void begin_far(struct plan *plan);
// NULL if there is no room. `alignment` is a power of two or less than 16. `zeroed`: the block is to be all zero.
void *far_allocate(size_t alignment, size_t size, bool zeroed);
void far_free(void *block);
// Bytes that the program may use.
size_t far_size(const void *block);

// Nobody else allocates or frees between the two.
void enter_far(void);
void leave_far(void);
extern size_t __trackway_far_top; // bytes from the beginning that were ever used

extern uintptr_t __trackway_far_begin, __trackway_far_size;

static inline bool is_far(const void *block) { return (uintptr_t)block - __trackway_far_begin < __trackway_far_size; }

#endif
