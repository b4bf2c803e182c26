// What takes the place of mmap and its like. The C library and ld.so call their own, which are not seen.
#include "allocator.h"
#include "kernel.h"
#include "tracer.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

static inline __attribute__((always_inline)) void *map(void *address, size_t length, int protection, int flags,
                                                       int file, off_t offset, const uintptr_t *frame) {
    void *mapped = next_allocator()->mmap(address, length, protection, flags, file, offset);
    if (mapped == MAP_FAILED)
        return mapped;
    bool has_file = !(flags & MAP_ANONYMOUS);
    struct more more = {
        .protection = (uint32_t)protection | (uint64_t)(uint32_t)flags << 32,
        .descriptor = has_file ? (uint64_t)(uint32_t)file + 1 : 0,
        .offset = has_file ? (uint64_t)offset : 0,
    };
    record_at_length(MAPPED, BY_MMAP, (uintptr_t)mapped, length, &more, frame);
    return mapped;
}

VISIBLE void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    return map(address, length, protection, flags, file, offset, HERE);
}

VISIBLE void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    return map(address, length, protection, flags, file, offset, HERE);
}

VISIBLE int munmap(void *address, size_t length) {
    record_at_length(UNMAPPED, BY_MUNMAP, (uintptr_t)address, length, NULL, HERE);
    int result = next_allocator()->munmap(address, length);
    if (result != 0)
        record_at_length(KEPT, BY_MUNMAP, (uintptr_t)address, 0, NULL, HERE);
    return result;
}

VISIBLE void *mremap(void *old, size_t old_length, size_t length, int flags, ...) {
    void *wanted = NULL;
    if (flags & MREMAP_FIXED) {
        va_list rest;
        va_start(rest, flags);
        wanted = va_arg(rest, void *);
        va_end(rest);
    }
    record_at_length(REMAPPING, BY_MREMAP, (uintptr_t)old, old_length, NULL, HERE);
    void *mapped = next_allocator()->mremap(old, old_length, length, flags, wanted);
    struct more more = {.old = (uintptr_t)old, .old_size = old_length};
    if (mapped == MAP_FAILED)
        record_at_length(KEPT, BY_MREMAP, (uintptr_t)old, 0, NULL, HERE);
    else
        record_at_length(REMAPPED, BY_MREMAP, (uintptr_t)mapped, length, &more, HERE);
    return mapped;
}

static inline __attribute__((always_inline)) void moved(uintptr_t former, uintptr_t now, enum by by,
                                                        const uintptr_t *frame) {
    struct more more = {.old = former};
    if (now != former)
        record_at_length(BREAK_MOVED, by, now, 0, &more, frame);
}

VISIBLE int brk(void *address) {
    const struct allocator *allocator = next_allocator();
    uintptr_t former = (uintptr_t)allocator->sbrk(0);
    int result = allocator->brk(address);
    if (result == 0)
        moved(former, (uintptr_t)address, BY_BRK, HERE);
    return result;
}

VISIBLE void *sbrk(intptr_t increment) {
    void *former = next_allocator()->sbrk(increment);
    if (former != (void *)-1)
        moved((uintptr_t)former, (uintptr_t)former + (uintptr_t)increment, BY_SBRK, HERE);
    return former;
}
