// An allocator of size classes: four to each power of two, a list of free blocks for each. Freed blocks serve later
// ones of their class; the memory itself is not given back.
#include "far.h"
#include "kernel.h"

enum { HEAD = 16, LEAST_BYTES = 32, STEPS = 4, CLASSES = 48 * STEPS };

// In front of each block.
struct head {
    uint32_t class;
    uint32_t distance; // from the beginning of the chunk to the block, in units of HEAD
    uint64_t size;
};

// Free: stands where the head would of a block that isn't aligned.
struct chunk {
    struct chunk *next;
};

uintptr_t __trackway_far_begin, __trackway_far_size;
const struct far_allocator *__trackway_far;
static uint32_t lock;
size_t __trackway_far_top; // what lies after was never used and is zero
static struct chunk *free_chunks[CLASSES];
static uint64_t live_bytes;

static void enter(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        kernel_call(SYS_sched_yield, 0, 0, 0, 0);
}

static void leave(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

// At least the bytes of the class: chunks begin where blocks may.
static size_t chunk_bytes(uint32_t class) {
    uint32_t doublings = class / STEPS, step = class % STEPS;
    size_t bytes = ((size_t)LEAST_BYTES << doublings) / STEPS * (STEPS + step);
    return (bytes + HEAD - 1) / HEAD * HEAD;
}

static uint32_t class_of(size_t bytes) {
    if (bytes <= LEAST_BYTES)
        return 0;
    uint32_t doublings = (uint32_t)(63 - __builtin_clzl(bytes)) - 5;
    size_t unit = ((size_t)LEAST_BYTES << doublings) / STEPS;
    return doublings * STEPS + (uint32_t)((bytes + unit - 1) / unit) - STEPS;
}

static struct head *head_of(const void *block) { return (struct head *)((uintptr_t)block - HEAD); }

// A new chunk is zero.
static uintptr_t take_chunk(uint32_t class, bool *is_new) {
    size_t bytes = chunk_bytes(class);
    struct chunk *chunk = free_chunks[class];
    *is_new = !chunk;
    if (chunk) {
        free_chunks[class] = chunk->next;
        return (uintptr_t)chunk;
    }
    if (bytes > __trackway_far_size - __trackway_far_top)
        return 0;
    __trackway_far_top += bytes;
    return __trackway_far_begin + __trackway_far_top - bytes;
}

static void *allocate(size_t alignment, size_t size, bool zeroed) {
    size_t slack = alignment > HEAD ? alignment : 0, bytes;
    uintptr_t chunk = 0;
    bool is_new = false;
    enter();
    if (!__builtin_add_overflow(size, slack + HEAD, &bytes) && bytes <= __trackway_far_size)
        chunk = take_chunk(class_of(bytes), &is_new);
    if (chunk)
        count_placed(size, live_bytes += size);
    leave();
    if (!chunk) {
        count_full(size);
        return NULL;
    }
    uintptr_t block = chunk + HEAD;
    if (slack)
        block = (block + alignment - 1) / alignment * alignment;
    *head_of((void *)block) = (struct head){class_of(bytes), (uint32_t)((block - chunk) / HEAD), size};
    if (zeroed && !is_new)
        __builtin_memset((void *)block, 0, size);
    return (void *)block;
}

static void release(void *block) {
    struct head head = *head_of(block);
    struct chunk *chunk = (struct chunk *)((uintptr_t)block - (uintptr_t)head.distance * HEAD);
    enter();
    live_bytes -= head.size;
    chunk->next = free_chunks[head.class];
    free_chunks[head.class] = chunk;
    leave();
}

static size_t usable_size(void *block) {
    const struct head *head = head_of(block);
    return chunk_bytes(head->class) - (size_t)head->distance * HEAD;
}

// What the lock guards has to be whole when it is copied, and a child has no other threads that could open it.
const struct far_allocator __trackway_size_classes = {
    .allocate = allocate,
    .free = release,
    .size = usable_size,
    .prepare_fork = enter,
    .finish_fork = leave,
};
