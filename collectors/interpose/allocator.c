// Finding the functions in whose place ours stand.
#include "allocator.h"
#include "kernel.h"

#include <dlfcn.h>
#include <string.h>

struct allocator __trackway_allocator;
bool __trackway_is_resolved;

static void *malloc_before(size_t size) { return arena_aligned(0, size); }

// The arena was never used before, so that it is zero.
static void *calloc_before(size_t count, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : arena_aligned(0, bytes);
}

static void *realloc_before(void *block, size_t size) {
    void *other = arena_aligned(0, size);
    if (other && block)
        memcpy(other, block, arena_size(block) < size ? arena_size(block) : size);
    return other;
}

static void free_before(void *block) { (void)block; }

static int posix_memalign_before(void **block, size_t alignment, size_t size) {
    *block = arena_aligned(alignment, size);
    return *block ? 0 : ENOMEM;
}

static void *mmap_before(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    register long sixth __asm__("r9") = offset;
    long result;
    register long fourth __asm__("r10") = flags;
    register long fifth __asm__("r8") = file;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(SYS_mmap), "D"(address), "S"(length), "d"(protection), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result < 0 && result > -4096 ? (void *)-1 : (void *)result;
}

static int munmap_before(void *address, size_t length) {
    return (int)kernel_call(SYS_munmap, (long)address, (long)length, 0, 0) < 0 ? -1 : 0;
}

static void serve_from_arena(struct allocator *allocator) {
    allocator->malloc = malloc_before;
    allocator->calloc = calloc_before;
    allocator->realloc = realloc_before;
    allocator->free = free_before;
    allocator->aligned_alloc = allocator->memalign = arena_aligned;
    allocator->posix_memalign = posix_memalign_before;
    allocator->malloc_usable_size = arena_size;
    allocator->mmap = mmap_before;
    allocator->munmap = munmap_before;
}

static const char *const new_names[NEW_COUNT] = {
    "_Znwm", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_Znam", "_ZnamRKSt9nothrow_t", "_ZnamSt11align_val_t", "_ZnamSt11align_val_tRKSt9nothrow_t",
};

static const char *const delete_names[DELETE_COUNT] = {
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPv",
    "_ZdaPvm",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdaPvSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

static void *following(const char *name) { return dlsym(RTLD_NEXT, name); }

static bool is_of_cxx_library(void *function) {
    Dl_info object;
    if (!dladdr(function, &object) || !object.dli_fname)
        return false;
    return strstr(object.dli_fname, "libstdc++.so") || strstr(object.dli_fname, "libc++");
}

// Programs may bring some of them only, which others then call.
static bool all_are_plain(const struct allocator *allocator) {
    for (int i = 0; i < NEW_COUNT; i++)
        if (allocator->operator_new[i] && !is_of_cxx_library((void *)allocator->operator_new[i]))
            return false;
    for (int i = 0; i < DELETE_COUNT; i++)
        if (allocator->operator_delete[i] && !is_of_cxx_library((void *)allocator->operator_delete[i]))
            return false;
    return true;
}

static void find_operators(struct allocator *allocator) {
    for (int i = 0; i < NEW_COUNT; i++)
        allocator->operator_new[i] = following(new_names[i]);
    for (int i = 0; i < DELETE_COUNT; i++)
        allocator->operator_delete[i] = following(delete_names[i]);
    allocator->has_plain_operators = all_are_plain(allocator);
}

static struct allocator find_all(void) {
    struct allocator found;
    found.malloc = following("malloc");
    found.calloc = following("calloc");
    found.realloc = following("realloc");
    found.free = following("free");
    found.aligned_alloc = following("aligned_alloc");
    found.posix_memalign = following("posix_memalign");
    found.memalign = following("memalign");
    found.valloc = following("valloc");
    found.pvalloc = following("pvalloc");
    found.malloc_usable_size = following("malloc_usable_size");
    found.mmap = following("mmap");
    found.munmap = following("munmap");
    found.mremap = following("mremap");
    found.brk = following("brk");
    found.sbrk = following("sbrk");
    find_operators(&found);
    return found;
}

void resolve_allocator(void) {
    static bool is_resolving;
    if (is_resolving)
        return;
    is_resolving = true;
    serve_from_arena(&__trackway_allocator);
    __trackway_allocator = find_all();
    __trackway_is_resolved = true;
    attach();
}

bool takes_malloc(void) {
    Dl_info first, own;
    bool are_known = dladdr(dlsym(RTLD_DEFAULT, "malloc"), &first) && dladdr((void *)resolve_allocator, &own);
    return !are_known || first.dli_fbase == own.dli_fbase;
}
