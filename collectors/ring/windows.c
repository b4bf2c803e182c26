// The ring in this process's memory: header and tables at once, buffers window by window as they are used, so that it
// takes little address space where that is limited.
#include "kernel.h"
#include "ring.h"

#include <sys/mman.h>

// Windows hold 16 buffers, 16 more, 32 more, 64 more and so on.
#define FIRST_WINDOW 16
#define PAGE 4096

// Emulators keep account of mappings in ways that duplicating one may upset, and have address space enough.
#if defined(__x86_64__)
#define MAPS_ALL_AT_ONCE false
#else
#define MAPS_ALL_AT_ONCE true
#endif

static unsigned window_of(uint32_t index) {
    return index < FIRST_WINDOW ? 0 : 32 - (unsigned)__builtin_clz(index / FIRST_WINDOW);
}

static uint32_t first_of(unsigned window) { return window == 0 ? 0 : (uint32_t)FIRST_WINDOW << (window - 1); }

static uint32_t buffers_of(const struct trackway_ring *ring, unsigned window) {
    uint32_t first = first_of(window), end = (uint32_t)FIRST_WINDOW << window;
    return (end < ring->buffer_count ? end : ring->buffer_count) - first;
}

// Grows the mapping of the ring's first page. The descriptor isn't needed for that.
struct trackway_ring *__trackway_map_ring(struct trackway_ring *first_page) {
    uint32_t buffers = MAPS_ALL_AT_ONCE ? first_page->buffer_count : buffers_of(first_page, 0);
    size_t length = first_page->data_offset + (size_t)buffers * first_page->buffer_size;
    long ring = kernel_call(SYS_mremap, (long)first_page, PAGE, (long)length, MREMAP_MAYMOVE);
    if (kernel_call_failed(ring))
        return NULL;
    __trackway_use_mapping((struct trackway_ring *)ring, buffers);
    kernel_call(SYS_madvise, ring, (long)length, MADV_DONTDUMP, 0); // a core dump would hold all of it
    return (struct trackway_ring *)ring;
}

void __trackway_use_mapping(struct trackway_ring *ring, uint32_t buffers) {
    unsigned char *data = (unsigned char *)ring + ring->data_offset;
    for (unsigned window = 0; window < TRACKWAY_WINDOWS && first_of(window) < buffers; window++)
        __trackway_process.windows[window] = data + (size_t)first_of(window) * ring->buffer_size;
}

// The page before a window is the last one of those before it: a further mapping that begins there and is longer has
// the window, too. That needs no descriptor, which the program may have closed.
static unsigned char *map_window(const struct trackway_ring *ring, unsigned window) {
    unsigned char *before = __trackway_window(window - 1);
    if (!before)
        return NULL;
    size_t length = PAGE + (size_t)buffers_of(ring, window) * ring->buffer_size;
    unsigned char *last_page = before + (size_t)buffers_of(ring, window - 1) * ring->buffer_size - PAGE;
    long mapping = kernel_call(SYS_mremap, (long)last_page, 0, (long)length, MREMAP_MAYMOVE);
    if (kernel_call_failed(mapping))
        return NULL;
    kernel_call(SYS_madvise, mapping, (long)length, MADV_DONTDUMP, 0);
    unsigned char *none = NULL, *data = (unsigned char *)mapping + PAGE;
    if (__atomic_compare_exchange_n(&__trackway_process.windows[window], &none, data, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return data;
    kernel_call(SYS_munmap, mapping, (long)length, 0, 0); // another thread was faster
    return none;
}

unsigned char *__trackway_window(unsigned window) {
    unsigned char *data = __atomic_load_n(&__trackway_process.windows[window], __ATOMIC_ACQUIRE);
    return data ? data : map_window(__trackway_process.ring, window);
}

unsigned char *__trackway_data(uint32_t index) {
    unsigned window = window_of(index);
    unsigned char *data = __trackway_window(window);
    return data ? data + (size_t)(index - first_of(window)) * __trackway_process.ring->buffer_size : NULL;
}

size_t __trackway_window_length(unsigned window) {
    const struct trackway_ring *ring = __trackway_process.ring;
    return (size_t)buffers_of(ring, window) * ring->buffer_size;
}

// Where buffers are mapped a second time: below windows, the C library and, but for programs at fixed addresses, the
// program.
#define LOW_PLACES 1024
#define LOWEST 0x10000
#define HIGHEST 0x40000000

static unsigned char *low_begin; // none: nothing was reserved yet
static bool low_taken[LOW_PLACES];

static size_t low_length(void) { return (size_t)LOW_PLACES * __trackway_process.ring->buffer_size; }

// What goes on with the position in a buffer that was there may write on.
static long map_private(uintptr_t at, size_t length, int flags) {
    flags |= MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return kernel_call_of_6(SYS_mmap, (long)at, (long)length, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static unsigned char *reserve_low(void) {
    unsigned char *none = NULL;
    for (uintptr_t at = LOWEST; at < HIGHEST && !none; at *= 2) {
        long found = map_private(at, low_length(), MAP_FIXED_NOREPLACE);
        if (kernel_call_failed(found))
            continue;
        unsigned char *reserved = (unsigned char *)found;
        if (found == (long)at &&
            __atomic_compare_exchange_n(&low_begin, &none, reserved, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return reserved;
        // A kernel that doesn't know the flag took it for a wish, or another thread was faster.
        kernel_call(SYS_munmap, found, (long)low_length(), 0, 0);
    }
    return none;
}

static unsigned char *take_low_place(size_t size, const unsigned char *below) {
    unsigned char *begin = __atomic_load_n(&low_begin, __ATOMIC_ACQUIRE);
    if (!begin)
        begin = reserve_low();
    if (!begin || below < begin)
        return NULL;
    size_t places = (size_t)(below - begin) / size;
    for (size_t i = places < LOW_PLACES ? places : LOW_PLACES; i-- > 0;)
        if (!__atomic_exchange_n(&low_taken[i], true, __ATOMIC_RELAXED))
            return begin + i * size;
    return NULL;
}

unsigned char *__trackway_map_low(uint32_t index, const unsigned char *below) {
    size_t size = __trackway_process.ring->buffer_size;
    unsigned char *place = MAPS_ALL_AT_ONCE || size % PAGE ? NULL : take_low_place(size, below);
    if (!place)
        return NULL;
    int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    long mapping = kernel_call_of_5(SYS_mremap, (long)__trackway_data(index), 0, (long)size, flags, (long)place);
    if (!kernel_call_failed(mapping))
        return place;
    __trackway_unmap_low(place);
    return NULL;
}

void __trackway_unmap_low(unsigned char *place) {
    size_t size = __trackway_process.ring->buffer_size;
    map_private((uintptr_t)place, size, MAP_FIXED);
    __atomic_store_n(&low_taken[(size_t)(place - low_begin) / size], false, __ATOMIC_RELEASE);
}

void __trackway_forget_low(void) { __builtin_memset(low_taken, 0, sizeof low_taken); }

struct room __trackway_low_room(void) { return (struct room){low_begin, low_begin ? low_begin + low_length() : NULL}; }
