// What takes the place of operator new and operator delete. Those of the C++ library call malloc and free: there the
// calls are made here, so that the innermost frame is the one that said `new`. An allocator that brings its own
// operators is asked for them.
#include "allocator.h"
#include "operator_forms.h"
#include "process.h"
#include "tracer.h"

// The last event of the thread says so already: the operator called malloc.
static bool is_told(uintptr_t block) {
    const struct tracer *tracer = &__trackway_tracers.first;
    if (!tracer->limit || tracer->cursor < tracer->begin + UNIT_BYTES)
        return false;
    const uint64_t *last = (const uint64_t *)(tracer->cursor - UNIT_BYTES);
    bool is_allocation = (last[0] & 0xFF) == ALLOCATED;
    return is_allocation && (last[1] & ((UINT64_C(1) << ADDRESS_BITS) - 1)) == block;
}

// A C program that opens C++ libraries may have them where we don't see them.
static void *without_library(size_t size) {
    void *block = next_allocator()->malloc(size);
    if (!block) {
        __trackway_complain("no memory for operator new, and no C++ library to throw std::bad_alloc");
        __builtin_trap();
    }
    return block;
}

static void *plain_new(size_t size, size_t alignment) {
    if (alignment == 0)
        return next_allocator()->malloc(size ? size : 1);
    size_t whole = (size + alignment - 1) / alignment * alignment;
    return next_allocator()->aligned_alloc(alignment, whole ? whole : alignment);
}

// `second` and `third` are what the form has after the size.
static inline __attribute__((always_inline)) void *allocate(enum operator_new form, size_t size, uintptr_t second,
                                                            uintptr_t third, size_t alignment, const uintptr_t *frame) {
    const struct allocator *allocator = next_allocator();
    enum by by = form >= NEW_ARRAY ? BY_NEW_ARRAY : BY_NEW;
    void *block = NULL;
    if (LIKELY(allocator->has_plain_operators))
        block = plain_new(size, alignment);
    if (UNLIKELY(!block)) {
        void *(*next)(size_t, uintptr_t, uintptr_t) = allocator->operator_new[form];
        block = next ? next(size, second, third) : without_library(size);
        if (!block || is_told((uintptr_t)block))
            return block;
    }
    if (alignment) {
        struct more more = {.old = alignment};
        record_at_length(ALLOCATED, by, (uintptr_t)block, size, &more, frame);
    } else {
        record(ALLOCATED, by, (uintptr_t)block, size, frame);
    }
    return block;
}

static inline __attribute__((always_inline)) void release(enum operator_delete form, void *block, uintptr_t second,
                                                          uintptr_t third, const uintptr_t *frame) {
    const struct allocator *allocator = next_allocator();
    if (!block)
        return;
    record(FREED, form >= DELETE_ARRAY ? BY_DELETE_ARRAY : BY_DELETE, (uintptr_t)block, 0, frame);
    void (*next)(void *, uintptr_t, uintptr_t) = allocator->operator_delete[form];
    if (LIKELY(allocator->has_plain_operators) || !next) {
        allocator->free(block);
        return;
    }
    __trackway_tracers.deleting = (uintptr_t)block;
    next(block, second, third);
    __trackway_tracers.deleting = 0;
}

// The names of the C++ ABI: operator new(unsigned long) and so on.
NEW_FORM(_Znwm, NEW)
NEW_FORM(_Znam, NEW_ARRAY)
DELETE_FORM(_ZdlPv, DELETE)
DELETE_FORM(_ZdaPv, DELETE_ARRAY)
