// Memory for requests before the program's allocator is known: the dynamic linker, which looks it up, makes some. It is
// never given back.
#include "allocator.h"

enum { ALIGNMENT = 16 };

unsigned char __trackway_arena[ARENA_BYTES] __attribute__((aligned(64)));
static size_t used;

// Each block's size stands in front of it.
static size_t *size_of(void *block) { return (size_t *)block - 1; }

void *arena_aligned(size_t alignment, size_t size) {
    if (alignment < ALIGNMENT)
        alignment = ALIGNMENT;
    size_t begin = __atomic_load_n(&used, __ATOMIC_RELAXED), at;
    do {
        at = (begin + sizeof(size_t) + alignment - 1) / alignment * alignment;
        if (alignment > ARENA_BYTES || at > ARENA_BYTES || size > ARENA_BYTES - at)
            return NULL;
    } while (!__atomic_compare_exchange_n(&used, &begin, at + size, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    *size_of(__trackway_arena + at) = size;
    return __trackway_arena + at;
}

size_t arena_size(void *block) { return *size_of(block); }
