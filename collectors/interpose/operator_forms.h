// All forms of operator new and operator delete, by two functions that the including file defines:
//
//   void *allocate(enum operator_new form, size_t size, uintptr_t second, uintptr_t third, size_t alignment,
//                  const uintptr_t *frame)
//   void release(enum operator_delete form, void *block, uintptr_t second, uintptr_t third, const uintptr_t *frame)
#ifndef TRACKWAY_OPERATOR_FORMS_H
#define TRACKWAY_OPERATOR_FORMS_H

// NOLINTBEGIN(bugprone-macro-parentheses): what they make are functions, not values
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
    VISIBLE void name(void *block) { release(form, block, 0, 0, HERE); }                                               \
    VISIBLE void name##m(void *block, uintptr_t size) { release(form##_SIZED, block, size, 0, HERE); }                 \
    VISIBLE void name##RKSt9nothrow_t(void *block, uintptr_t nothrow) {                                                \
        release(form##_NOTHROW, block, nothrow, 0, HERE);                                                              \
    }                                                                                                                  \
    VISIBLE void name##St11align_val_t(void *block, uintptr_t alignment) {                                             \
        release(form##_ALIGNED, block, alignment, 0, HERE);                                                            \
    }                                                                                                                  \
    VISIBLE void name##mSt11align_val_t(void *block, uintptr_t size, uintptr_t alignment) {                            \
        release(form##_SIZED_ALIGNED, block, size, alignment, HERE);                                                   \
    }                                                                                                                  \
    VISIBLE void name##St11align_val_tRKSt9nothrow_t(void *block, uintptr_t alignment, uintptr_t nothrow) {            \
        release(form##_ALIGNED_NOTHROW, block, alignment, nothrow, HERE);                                              \
    }
// NOLINTEND(bugprone-macro-parentheses)

#endif
