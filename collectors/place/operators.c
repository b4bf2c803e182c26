// What takes the place of operator new and operator delete.
#include "allocator.h"
#include "far.h"
#include "runtime.h"
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

// `second` and `third` are what the form has behind the size.
static inline __attribute__((always_inline)) void *allocate(enum operator_new form, size_t size, uintptr_t second,
                                                            uintptr_t third, size_t alignment, const uintptr_t *frame) {
    const struct allocator *allocator = next_allocator();
    void *block = is_advised(frame) ? far_allocate(alignment, size ? size : 1, false) : NULL;
    if (block)
        return block;
    void *(*next)(size_t, uintptr_t, uintptr_t) = allocator->operator_new[form];
    return next ? next(size, second, third) : without_library(size, alignment);
}

static inline void release(enum operator_delete form, void *block, uintptr_t second, uintptr_t third) {
    const struct allocator *allocator = next_allocator();
    void (*next)(void *, uintptr_t, uintptr_t) = allocator->operator_delete[form];
    if (is_far(block) || !next)
        free(block);
    else
        next(block, second, third);
}

#define NEW_FORM(name, form)                                                                                           \
    VISIBLE void *name(size_t size) { return allocate(form, size, 0, 0, 0, HERE); }                                    \
    VISIBLE void *name##RKSt9nothrow_t(size_t size, uintptr_t nothrow) {                                               \
        return allocate(form##_NOTHROW, size, nothrow, 0, 0, HERE);                                                    \
    }                                                                                                                  \
    VISIBLE void *name##St11align_val_t(size_t size, uintptr_t alignment) {                                            \
        return allocate(form##_ALIGNED, size, alignment, 0, alignment, HERE);                                          \
    }                                                                                                                  \
    VISIBLE void *name##St11align_val_tRKSt9nothrow_t(size_t size, uintptr_t alignment, uintptr_t nothrow) {           \
        return allocate(form##_ALIGNED_NOTHROW, size, alignment, nothrow, alignment, HERE);                            \
    }

#define DELETE_FORM(name, form)                                                                                        \
    VISIBLE void name(void *block) { release(form, block, 0, 0); }                                                     \
    VISIBLE void name##m(void *block, uintptr_t size) { release(form##_SIZED, block, size, 0); }                       \
    VISIBLE void name##RKSt9nothrow_t(void *block, uintptr_t nothrow) { release(form##_NOTHROW, block, nothrow, 0); }  \
    VISIBLE void name##St11align_val_t(void *block, uintptr_t alignment) {                                             \
        release(form##_ALIGNED, block, alignment, 0);                                                                  \
    }                                                                                                                  \
    VISIBLE void name##mSt11align_val_t(void *block, uintptr_t size, uintptr_t alignment) {                            \
        release(form##_SIZED_ALIGNED, block, size, alignment);                                                         \
    }                                                                                                                  \
    VISIBLE void name##St11align_val_tRKSt9nothrow_t(void *block, uintptr_t alignment, uintptr_t nothrow) {            \
        release(form##_ALIGNED_NOTHROW, block, alignment, nothrow);                                                    \
    }

// The names of the C++ ABI: operator new(unsigned long) and so on.
NEW_FORM(_Znwm, NEW)
NEW_FORM(_Znam, NEW_ARRAY)
DELETE_FORM(_ZdlPv, DELETE)
DELETE_FORM(_ZdaPv, DELETE_ARRAY)
