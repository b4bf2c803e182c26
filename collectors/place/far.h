// Blocks in far memory: a range of addresses that is mapped from a file, bound to a NUMA node, or managed by memkind.
#ifndef TRACKWAY_PLACE_FAR_H
#define TRACKWAY_PLACE_FAR_H

#include "plan.h"

#include <stdbool.h>

// The allocator of far blocks. A block's address alone says whether it is far.
struct far_allocator {
    // NULL if there is no room. `alignment` is a power of two or less than 16. `zeroed`: the block is to be all zero.
    void *(*allocate)(size_t alignment, size_t size, bool zeroed);
    // NULL if the block stays as it is; it then has to be copied. May be missing.
    void *(*reallocate)(void *block, size_t size);
    void (*free)(void *block);
    // Bytes that the program may use.
    size_t (*size)(void *block);
    // Between the two no other thread allocates or frees. The second one is called in the parent and in the child.
    void (*prepare_fork)(void);
    void (*finish_fork)(void);
    // Called in between, before the fork. It makes the copy that the child will have, or ends the program. It may be
    // missing.
    void (*copy_for_child)(void);
};

extern const struct far_allocator *__trackway_far;
extern const struct far_allocator __trackway_size_classes;

// Maps the memory of a file or node, or ends the program.
void begin_far(struct plan *plan);
// A file in the folder of `path`, whose name begins with the path's, and which no other process finds. Negative: an
// error.
int open_nameless(const char *path);
// False if there is no room.
bool write_all(int file, const unsigned char *bytes, size_t length, uint64_t offset);

extern size_t __trackway_far_top; // bytes from the beginning that size classes ever used
extern uintptr_t __trackway_far_begin, __trackway_far_size;

static inline bool is_far(const void *block) { return (uintptr_t)block - __trackway_far_begin < __trackway_far_size; }

// Adds a block of so many bytes to what was placed; `live_bytes`: what this process holds with it.
void count_placed(size_t size, uint64_t live_bytes);
// Adds a block that found no room.
void count_full(size_t size);

#endif
