// An allocator for LD_PRELOAD, thread-safe and simple: powers of two, a list of free blocks for each.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMALLEST = 5, CLASSES = 40, AREA = 1 << 20 };

struct block {
    uint64_t size_class;
    struct block *next; // the program's from here on, while it is in use
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *free_blocks[CLASSES];
static char *area, *area_end;
static unsigned long allocations;

static char *more(size_t size) {
    if ((size_t)(area_end - area) < size) {
        size_t length = size > AREA ? size : AREA;
        area = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (area == MAP_FAILED)
            return area_end = area = NULL;
        area_end = area + length;
    }
    char *from = area;
    area += size;
    return from;
}

void *malloc(size_t size) {
    unsigned class = SMALLEST;
    while (((size_t)1 << class) < size + 16)
        class ++;
    pthread_mutex_lock(&lock);
    allocations++;
    struct block *block = free_blocks[class];
    if (block)
        free_blocks[class] = block->next;
    else
        block = (struct block *)(void *)more((size_t)1 << class);
    pthread_mutex_unlock(&lock);
    if (!block) {
        errno = ENOMEM;
        return NULL;
    }
    block->size_class = class;
    return (char *)block + 16;
}

static struct block *block_of(void *memory) { return (struct block *)(void *)((char *)memory - 16); }

void free(void *memory) {
    if (!memory)
        return;
    struct block *block = block_of(memory);
    pthread_mutex_lock(&lock);
    block->next = free_blocks[block->size_class];
    free_blocks[block->size_class] = block;
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t size) {
    void *memory = malloc(count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

void *realloc(void *memory, size_t size) {
    if (!memory)
        return malloc(size);
    size_t former = ((size_t)1 << block_of(memory)->size_class) - 16;
    if (size <= former)
        return memory;
    void *larger = malloc(size);
    if (larger) {
        memcpy(larger, memory, former);
        free(memory);
    }
    return larger;
}

__attribute__((destructor)) static void say(void) {
    static const char text[] = "preloaded allocator was used\n";
    if (allocations > 100 && write(2, text, sizeof text - 1) < 0)
        allocations = 0;
}
