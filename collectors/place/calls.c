// Replaces malloc and its like. The program's allocator serves requests that find no far room.
#include "allocator.h"
#include "far.h"
#include "ring.h"
#include "sites.h"

#include <errno.h>
#include <unistd.h>

#define HERE ((const uintptr_t *)__builtin_frame_address(0))

VISIBLE void *malloc(size_t size) {
    const struct allocator *next = next_allocator();
    void *block = is_advised(HERE) ? __trackway_far->allocate(0, size, false) : NULL;
    return block ? block : next->malloc(size);
}

VISIBLE void *calloc(size_t count, size_t size) {
    const struct allocator *next = next_allocator();
    size_t bytes;
    void *block = NULL;
    if (is_advised(HERE) && !__builtin_mul_overflow(count, size, &bytes))
        block = __trackway_far->allocate(0, bytes, true);
    return block ? block : next->calloc(count, size);
}

VISIBLE void free(void *block) {
    const struct allocator *next = next_allocator();
    if (is_far(block))
        __trackway_far->free(block);
    else if (block && !is_in_arena(block))
        next->free(block);
}

static size_t size_of_block(void *block) {
    if (is_far(block))
        return __trackway_far->size(block);
    return is_in_arena(block) ? arena_size(block) : next_allocator()->malloc_usable_size(block);
}

// Moves a block from far to near memory, or the other way.
static void *move_block(void *block, void *other, size_t size) {
    if (!other)
        return NULL;
    size_t former = size_of_block(block);
    __builtin_memcpy(other, block, former < size ? former : size);
    free(block);
    return other;
}

// A far block that stays far; NULL if it has to be copied.
static void *resize(void *block, size_t size) {
    size_t former = __trackway_far->size(block);
    if (size <= former && size >= former / 2)
        return block;
    return __trackway_far->reallocate ? __trackway_far->reallocate(block, size) : NULL;
}

static inline __attribute__((always_inline)) void *reallocate(void *block, size_t size, const uintptr_t *frame) {
    const struct allocator *next = next_allocator();
    bool goes_far = is_advised(frame);
    if (!block) {
        void *far = goes_far ? __trackway_far->allocate(0, size, false) : NULL;
        return far ? far : next->realloc(NULL, size);
    }
    if (size == 0 && is_far(block)) {
        free(block);
        return NULL;
    }
    if (is_far(block) && goes_far) {
        void *far = resize(block, size);
        if (far)
            return far;
    }
    if (goes_far && size > 0) {
        void *far = __trackway_far->allocate(0, size, false);
        if (far)
            return move_block(block, far, size);
    }
    if (is_far(block) || is_in_arena(block))
        return move_block(block, next->malloc(size), size);
    return next->realloc(block, size);
}

VISIBLE void *realloc(void *block, size_t size) { return reallocate(block, size, HERE); }

VISIBLE void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(block, bytes, HERE);
}

static inline bool is_alignment(size_t alignment) { return alignment && (alignment & (alignment - 1)) == 0; }

static inline __attribute__((always_inline)) void *aligned(size_t alignment, size_t size, const uintptr_t *frame) {
    return is_alignment(alignment) && is_advised(frame) ? __trackway_far->allocate(alignment, size, false) : NULL;
}

VISIBLE void *aligned_alloc(size_t alignment, size_t size) {
    const struct allocator *next = next_allocator();
    void *block = aligned(alignment, size, HERE);
    return block ? block : next->aligned_alloc(alignment, size);
}

VISIBLE void *memalign(size_t alignment, size_t size) {
    const struct allocator *next = next_allocator();
    void *block = aligned(alignment, size, HERE);
    return block ? block : next->memalign(alignment, size);
}

VISIBLE int posix_memalign(void **block, size_t alignment, size_t size) {
    const struct allocator *next = next_allocator();
    void *far = alignment % sizeof(void *) == 0 ? aligned(alignment, size, HERE) : NULL;
    if (!far)
        return next->posix_memalign(block, alignment, size);
    *block = far;
    return 0;
}

VISIBLE void *valloc(size_t size) {
    const struct allocator *next = next_allocator();
    void *block = aligned((size_t)getpagesize(), size, HERE);
    return block ? block : next->valloc(size);
}

VISIBLE void *pvalloc(size_t size) {
    const struct allocator *next = next_allocator();
    size_t page = (size_t)getpagesize();
    void *block = size <= SIZE_MAX - page ? aligned(page, (size + page - 1) / page * page, HERE) : NULL;
    return block ? block : next->pvalloc(size);
}

VISIBLE size_t malloc_usable_size(void *block) { return block ? size_of_block(block) : 0; }
