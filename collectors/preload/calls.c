// Replaces malloc and its like.
#include "allocator.h"
#include "kernel.h"
#include "tracer.h"

#include <unistd.h>

static inline __attribute__((always_inline)) void *allocated(void *block, size_t size, enum by by,
                                                             const uintptr_t *frame) {
    if (block)
        record(ALLOCATED, by, (uintptr_t)block, size, frame);
    return block;
}

static inline __attribute__((always_inline)) void *allocated_aligned(void *block, size_t alignment, size_t size,
                                                                     enum by by, const uintptr_t *frame) {
    struct more more = {.old = alignment};
    if (block)
        record_at_length(ALLOCATED, by, (uintptr_t)block, size, &more, frame);
    return block;
}

VISIBLE void *malloc(size_t size) { return allocated(next_allocator()->malloc(size), size, BY_MALLOC, HERE); }

VISIBLE void *calloc(size_t count, size_t size) {
    return allocated(next_allocator()->calloc(count, size), count * size, BY_CALLOC, HERE);
}

VISIBLE void free(void *block) {
    const struct allocator *allocator = next_allocator();
    if (!block || UNLIKELY(is_in_arena(block)))
        return;
    if (LIKELY((uintptr_t)block != __trackway_tracers.deleting))
        record(FREED, BY_FREE, (uintptr_t)block, 0, HERE);
    allocator->free(block);
}

// Blocks of the arena are left where they are.
static void *move_from_arena(void *block, size_t size) {
    void *other = next_allocator()->malloc(size);
    if (other)
        __builtin_memcpy(other, block, arena_size(block) < size ? arena_size(block) : size);
    return other;
}

// The fate of the block is reported twice: another thread may get its memory before we hear of it.
static inline __attribute__((always_inline)) void *reallocate(void *block, size_t size, enum by by,
                                                              const uintptr_t *frame) {
    const struct allocator *allocator = next_allocator();
    if (!block)
        return allocated(allocator->realloc(NULL, size), size, by, frame);
    if (UNLIKELY(is_in_arena(block)))
        return allocated(move_from_arena(block, size), size, by, frame);
    record(REALLOCATING, by, (uintptr_t)block, 0, frame);
    void *other = allocator->realloc(block, size);
    struct more more = {.old = (uintptr_t)block};
    if (other || size == 0)
        record_at_length(REALLOCATED, by, (uintptr_t)other, size, &more, frame);
    else
        record_at_length(KEPT, by, (uintptr_t)block, 0, NULL, frame);
    return other;
}

VISIBLE void *realloc(void *block, size_t size) { return reallocate(block, size, BY_REALLOC, HERE); }

VISIBLE void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(block, bytes, BY_REALLOCARRAY, HERE);
}

VISIBLE void *aligned_alloc(size_t alignment, size_t size) {
    void *block = next_allocator()->aligned_alloc(alignment, size);
    return allocated_aligned(block, alignment, size, BY_ALIGNED_ALLOC, HERE);
}

VISIBLE int posix_memalign(void **block, size_t alignment, size_t size) {
    int error = next_allocator()->posix_memalign(block, alignment, size);
    if (error == 0)
        allocated_aligned(*block, alignment, size, BY_POSIX_MEMALIGN, HERE);
    return error;
}

VISIBLE void *memalign(size_t alignment, size_t size) {
    return allocated_aligned(next_allocator()->memalign(alignment, size), alignment, size, BY_MEMALIGN, HERE);
}

VISIBLE void *valloc(size_t size) {
    return allocated_aligned(next_allocator()->valloc(size), (size_t)getpagesize(), size, BY_VALLOC, HERE);
}

VISIBLE void *pvalloc(size_t size) {
    return allocated_aligned(next_allocator()->pvalloc(size), (size_t)getpagesize(), size, BY_PVALLOC, HERE);
}

VISIBLE size_t malloc_usable_size(void *block) {
    const struct allocator *allocator = next_allocator();
    return is_in_arena(block) ? arena_size(block) : allocator->malloc_usable_size(block);
}
