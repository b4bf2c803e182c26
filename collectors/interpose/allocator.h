// The functions in whose place ours stand: those of the C library, or of the allocator that the program brought.
#ifndef TRACKWAY_ALLOCATOR_H
#define TRACKWAY_ALLOCATOR_H

#include "ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum operator_new {
    NEW,
    NEW_NOTHROW,
    NEW_ALIGNED,
    NEW_ALIGNED_NOTHROW,
    NEW_ARRAY,
    NEW_ARRAY_NOTHROW,
    NEW_ARRAY_ALIGNED,
    NEW_ARRAY_ALIGNED_NOTHROW,
    NEW_COUNT,
};

enum operator_delete {
    DELETE,
    DELETE_SIZED,
    DELETE_NOTHROW,
    DELETE_ALIGNED,
    DELETE_SIZED_ALIGNED,
    DELETE_ALIGNED_NOTHROW,
    DELETE_ARRAY,
    DELETE_ARRAY_SIZED,
    DELETE_ARRAY_NOTHROW,
    DELETE_ARRAY_ALIGNED,
    DELETE_ARRAY_SIZED_ALIGNED,
    DELETE_ARRAY_ALIGNED_NOTHROW,
    DELETE_COUNT,
};

struct allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*brk)(void *);
    void *(*sbrk)(intptr_t);
    // They take more arguments than most of these forms have, which does no harm.
    void *(*operator_new[NEW_COUNT])(size_t, uintptr_t, uintptr_t);
    void (*operator_delete[DELETE_COUNT])(void *, uintptr_t, uintptr_t);
    // The operators are the C++ library's, which call malloc and free: so they needn't be called.
    bool has_plain_operators;
};

extern HIDDEN struct allocator __trackway_allocator;
extern HIDDEN bool __trackway_is_resolved;

// Fills it. Until it returns, the arena serves all allocations.
void resolve_allocator(void);

// What the library does as soon as it is filled, before anything else of the program: the C library may not be ready
// yet.
void attach(void);

// Whether calls of malloc come here: an executable that has one of its own comes before all libraries.
bool takes_malloc(void);

static inline const struct allocator *next_allocator(void) {
    if (__builtin_expect(!__trackway_is_resolved, 0))
        resolve_allocator();
    return &__trackway_allocator;
}

// arena.c
enum { ARENA_BYTES = 64 * 1024 };
extern HIDDEN unsigned char __trackway_arena[ARENA_BYTES];
static inline bool is_in_arena(const void *block) {
    return (uintptr_t)block - (uintptr_t)__trackway_arena < ARENA_BYTES;
}
void *arena_aligned(size_t alignment, size_t size);
size_t arena_size(void *block);

#endif
