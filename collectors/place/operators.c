// Replaces operator new and operator delete.
#include "allocator.h"
#include "far.h"
#include "operator_forms.h"
#include "ring.h"
#include "sites.h"

#define HERE ((const uintptr_t *)__builtin_frame_address(0))

extern void *malloc(size_t size);
extern void *aligned_alloc(size_t alignment, size_t size);
extern void free(void *block);

// A C program that opens C++ libraries may have them where we don't see them.
static void *without_library(size_t size, size_t alignment) {
    const struct allocator *next = next_allocator();
    size = size ? size : 1;
    void *block = alignment ? next->memalign(alignment, size) : next->malloc(size);
    if (!block)
        give_up("no memory for operator new, and no C++ library to throw std::bad_alloc");
    return block;
}

// `second` and `third` are what the form has after the size.
static inline __attribute__((always_inline)) void *allocate(enum operator_new form, size_t size, uintptr_t second,
                                                            uintptr_t third, size_t alignment, const uintptr_t *frame) {
    const struct allocator *allocator = next_allocator();
    void *block = is_advised(frame) ? __trackway_far->allocate(alignment, size ? size : 1, false) : NULL;
    if (block)
        return block;
    void *(*next)(size_t, uintptr_t, uintptr_t) = allocator->operator_new[form];
    return next ? next(size, second, third) : without_library(size, alignment);
}

static inline void release(enum operator_delete form, void *block, uintptr_t second, uintptr_t third,
                           const uintptr_t *frame) {
    (void)frame; // where a block lies doesn't depend on who releases it
    const struct allocator *allocator = next_allocator();
    void (*next)(void *, uintptr_t, uintptr_t) = allocator->operator_delete[form];
    if (is_far(block) || !next)
        free(block);
    else
        next(block, second, third);
}

// The names of the C++ ABI: operator new(unsigned long) and so on.
NEW_FORM(_Znwm, NEW)
NEW_FORM(_Znam, NEW_ARRAY)
DELETE_FORM(_ZdlPv, DELETE)
DELETE_FORM(_ZdaPv, DELETE_ARRAY)
