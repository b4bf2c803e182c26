// Replaces mmap, munmap and posix_fallocate for memkind. All other callers get the C library's.
#include "addresses.h"
#include "allocator.h"
#include "far.h"
#include "kernel.h"
#include "maps.h"
#include "spans.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define HERE ((const uintptr_t *)__builtin_frame_address(0))
#define PAGE_BYTES ((size_t)4096)
#define HUGE_BYTES ((size_t)2 << 20)

struct code {
    uintptr_t low, high;
};

THREAD_LOCAL bool __trackway_maps_far;
static struct code mapper, tracer;
static size_t capacity, mapped_bytes;
static struct spans spans;
static uint32_t lock;
static struct {
    int descriptor;
    uint64_t device, inode;
} file = {.descriptor = -1};

void enter_addresses(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        kernel_call(SYS_sched_yield, 0, 0, 0, 0);
}

void leave_addresses(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

int mapped_file(void) { return file.descriptor; }

// ---- The range -----------------------------------------------------------------------------------------------------

static void *keep_unused(void *where, size_t length) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where ? MAP_FIXED : 0);
    return __trackway_allocator.mmap(where, length, PROT_NONE, flags, -1, 0);
}

static void find_tracer(const struct mapping *mapping, void *context) {
    (void)context;
    if (mapping->is_code && is_of_tracer(mapping))
        tracer = (struct code){mapping->low, mapping->high};
}

// Twice as many addresses as bytes, since returned memory leaves gaps.
void reserve_addresses(size_t bytes, const void *function) {
    size_t length;
    void *range = MAP_FAILED;
    Dl_info object;
    const ElfW(Sym) * symbol;
    if (!dladdr1(function, &object, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        give_up("the function by which memkind maps memory can't be found");
    if (!__builtin_mul_overflow(bytes, 2, &length))
        range = keep_unused(NULL, length);
    if (range == MAP_FAILED)
        give_up("no addresses for far memory of that size: --far-size says how large it is");
    mapper = (struct code){(uintptr_t)function, (uintptr_t)function + symbol->st_size};
    for_each_mapping(find_tracer, NULL);
    capacity = bytes;
    give_span(&spans, (uintptr_t)range, length);
    __trackway_far_begin = (uintptr_t)range;
    __trackway_far_size = length;
}

static size_t whole_pages(size_t length) { return (length + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES; }

static uintptr_t take_addresses(void *wanted, size_t length) {
    uintptr_t begin = 0;
    enter_addresses();
    if (length <= capacity - mapped_bytes) {
        if (!wanted)
            begin = take_span(&spans, length, length % HUGE_BYTES == 0 ? HUGE_BYTES : PAGE_BYTES);
        else if (take_span_at(&spans, (uintptr_t)wanted, length))
            begin = (uintptr_t)wanted;
    }
    mapped_bytes += begin ? length : 0;
    leave_addresses();
    return begin;
}

static int give_addresses(void *begin, size_t length) {
    if (keep_unused(begin, length) == MAP_FAILED)
        return -1;
    enter_addresses();
    give_span(&spans, (uintptr_t)begin, length);
    mapped_bytes -= length;
    leave_addresses();
    return 0;
}

// ---- The file ------------------------------------------------------------------------------------------------------

static bool remember_file(int descriptor) {
    struct stat status;
    if (kernel_call(SYS_fstat, descriptor, (long)&status, 0, 0) < 0)
        return false;
    file.device = status.st_dev;
    file.inode = status.st_ino;
    file.descriptor = descriptor;
    return true;
}

// A program may have closed memkind's file, and opened one of its own by that number.
static bool is_file(int descriptor) {
    struct stat status;
    return file.descriptor < 0 || (kernel_call(SYS_fstat, descriptor, (long)&status, 0, 0) == 0 &&
                                   status.st_dev == file.device && status.st_ino == file.inode);
}

static void copy_mapping(const struct mapping *mapping, void *context) {
    int *copy = context;
    if (mapping->is_shared && is_far((void *)mapping->low) && *copy >= 0 &&
        !write_all(*copy, (const unsigned char *)mapping->low, mapping->high - mapping->low, mapping->offset))
        *copy = -1;
}

bool copy_mappings(int copy) {
    for_each_mapping(copy_mapping, &copy);
    return copy >= 0;
}

static void map_from_copy(const struct mapping *mapping, void *context) {
    int *copy = context;
    if (!mapping->is_shared || !is_far((void *)mapping->low) || *copy < 0)
        return;
    void *mapped = __trackway_allocator.mmap((void *)mapping->low, mapping->high - mapping->low, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_FIXED, *copy, (off_t)mapping->offset);
    if (mapped == MAP_FAILED)
        *copy = -1;
}

bool map_copy(int copy) {
    int mapped = copy;
    for_each_mapping(map_from_copy, &mapped);
    return mapped >= 0 && kernel_call(SYS_dup3, copy, file.descriptor, O_CLOEXEC, 0) >= 0 &&
           remember_file(file.descriptor);
}

// ---- Calls ---------------------------------------------------------------------------------------------------------

static bool is_in(struct code code, uintptr_t address) { return address - code.low < code.high - code.low; }

// Tables of the library, and what another allocator maps that it calls, stay where they are.
static inline __attribute__((always_inline)) bool is_for_blocks(const uintptr_t *frame) {
    if (is_in(tracer, frame[1]))
        frame = (const uintptr_t *)frame[0];
    return is_in(mapper, frame[1]);
}

static void *map_far(void *wanted, size_t length, int protection, int flags, int descriptor, off_t offset) {
    bool is_shared = flags & MAP_SHARED;
    length = whole_pages(length);
    uintptr_t begin = !is_shared || is_file(descriptor) ? take_addresses(wanted, length) : 0;
    if (!begin) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (is_shared && file.descriptor < 0)
        remember_file(descriptor);
    void *mapped = __trackway_allocator.mmap((void *)begin, length, protection, flags | MAP_FIXED, descriptor, offset);
    if (mapped == MAP_FAILED)
        give_addresses((void *)begin, length);
    return mapped;
}

static inline __attribute__((always_inline)) void *map(void *address, size_t length, int protection, int flags,
                                                       int descriptor, off_t offset, const uintptr_t *frame) {
    const struct allocator *next = next_allocator();
    bool goes_far = __trackway_maps_far && !(flags & MAP_FIXED) && length > 0 && is_for_blocks(frame);
    return goes_far ? map_far(address, length, protection, flags, descriptor, offset)
                    : next->mmap(address, length, protection, flags, descriptor, offset);
}

VISIBLE void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    return map(address, length, protection, flags, descriptor, offset, HERE);
}

VISIBLE void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    return map(address, length, protection, flags, descriptor, offset, HERE);
}

VISIBLE int munmap(void *address, size_t length) {
    const struct allocator *next = next_allocator();
    if (capacity > 0 && is_far(address) && length <= __trackway_far_size)
        return give_addresses(address, whole_pages(length));
    return next->munmap(address, length);
}

VISIBLE int posix_fallocate(int descriptor, off_t offset, off_t length) {
    static int (*next)(int, off_t, off_t);
    if (!next)
        next = dlsym(RTLD_NEXT, "posix_fallocate");
    if (__trackway_maps_far && !is_file(descriptor))
        return EBADF;
    return next ? next(descriptor, offset, length) : ENOSYS;
}
