// Every workload takes one optional argument: `small` for the tests, or a number; without it the full size runs.
#ifndef WORKLOADS_SIZE_H
#define WORKLOADS_SIZE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline size_t size_argument(int argc, char **argv, size_t full, size_t small) {
    if (argc < 2)
        return full;
    if (strcmp(argv[1], "small") == 0)
        return small;
    char *end;
    unsigned long long size = strtoull(argv[1], &end, 10);
    if (*end != '\0' || size == 0) {
        fprintf(stderr, "usage: %s [small|SIZE]\n", argv[0]);
        exit(2);
    }
    return (size_t)size;
}

// Where a part ends that begins at `first` and has at most `size` elements of all `n`.
static inline size_t end_of_part(size_t first, size_t size, size_t n) { return n - first < size ? n : first + size; }

static inline void *allocate(size_t count, size_t size) {
    void *block = calloc(count, size);
    if (!block) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return block;
}

#endif
