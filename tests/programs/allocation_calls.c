// Calls each allocator a known number of times, and counts what it asked for: prints allocations, bytes and releases.
// The constructor allocates before the program's main; the last block is never freed. With an argument it leaves out
// pvalloc, which not all allocators bring.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long allocations, bytes, releases;
static void *from_constructor;

static void *counted(void *block, size_t size) {
    if (!block)
        abort();
    memset(block, 1, size);
    allocations++;
    bytes += size;
    return block;
}

static void release(void *block) {
    releases++;
    free(block);
}

__attribute__((constructor)) static void allocate_early(void) { from_constructor = counted(malloc(24), 24); }

static void reallocate(void) {
    void *block = counted(realloc(NULL, 10), 10);
    for (size_t size = 20; size < 200000; size *= 3)
        block = counted(realloc(block, size), size);
    if (realloc(block, PTRDIFF_MAX)) // fails, and leaves the block
        abort();
    block = counted(reallocarray(block, 3, 7), 21);
    release(block);
}

static void align(bool with_pvalloc) {
    void *block;
    release(counted(aligned_alloc(64, 128), 128));
    if (posix_memalign(&block, 256, 100) != 0)
        abort();
    release(counted(block, 100));
    release(counted(memalign(32, 50), 50));
    release(counted(valloc(5000), 5000));
    if (with_pvalloc)
        release(counted(pvalloc(4096), 4096));
}

static void map(void) {
    size_t page = (size_t)getpagesize();
    unsigned char *mapped = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped = mremap(mapped, 4 * page, 8 * page, MREMAP_MAYMOVE);
    mapped[7 * page] = 1;
    if (munmap(mapped + 1, page) == 0) // not a page: it fails
        abort();
    munmap(mapped, 8 * page);
    if (sbrk((intptr_t)page) == (void *)-1)
        abort();
}

int main(int argc, char **argv) {
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0); // it would allocate
    for (size_t size = 0; size < 1000; size++)
        release(counted(malloc(size), size));
    release(counted(calloc(7, 11), 77));
    release(counted(malloc(100000), 100000));
    reallocate();
    align(argc == 1);
    map();
    release(from_constructor);
    void *volatile leaked = counted(malloc(333), 333);
    (void)leaked;
    printf("%lu %lu %lu\n", allocations, bytes, releases);
    return 0;
}
