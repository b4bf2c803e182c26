// Blocks that realloc moves, grows where they are, or maps elsewhere. The first argument says which blocks; each line
// of output is a call: the bytes that it copied, which this program finds out by itself.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_OF_HEAP = 64 * 1024, MAPPED = 4 * 1024 * 1024 };

struct list {
    char *items;
    size_t bytes;
};

static struct list list;
static void *blockers[64];
static int blocker_count;

// The next block can't grow where it is.
static void block_growth(void) { blockers[blocker_count++ % 64] = malloc(24); }

static void said(const char *how, const char *before, size_t bytes) {
    printf("%s %zu\n", how, list.items && list.items != before ? bytes : 0);
}

__attribute__((noinline)) static void grow(size_t bytes) {
    char *before = list.items;
    size_t usable = malloc_usable_size(before);
    list.items = (char *)realloc(list.items, bytes);
    said("realloc", before, usable < LARGEST_OF_HEAP ? usable : 0);
    list.bytes = bytes;
}

__attribute__((noinline)) static void grow_array(size_t count) {
    char *before = list.items;
    size_t usable = malloc_usable_size(before);
    list.items = (char *)reallocarray(list.items, count, 16);
    said("reallocarray", before, usable < LARGEST_OF_HEAP ? usable : 0);
    list.bytes = count * 16;
}

static void of_heap(void) {
    for (size_t bytes = 16; bytes <= LARGEST_OF_HEAP / 2; bytes *= 2) {
        grow(bytes);
        memset(list.items, 1, bytes);
        if (bytes % 3)
            block_growth();
    }
    for (size_t count = list.bytes / 16; count > 100; count -= count / 3)
        grow_array(count);
}

static void of_pages(void) {
    for (size_t bytes = MAPPED; bytes <= 8 * (size_t)MAPPED; bytes *= 2) {
        grow(bytes);
        memset(list.items, 1, 4096);
    }
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1 && !strcmp(argv[1], "pages"))
        of_pages();
    else
        of_heap();
    grow(SIZE_MAX / 2); // fails
    return 0;
}
