// What is mapped in this process, as the kernel tells it.
#ifndef TRACKWAY_PLACE_MAPS_H
#define TRACKWAY_PLACE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uintptr_t low, high;
    uint64_t offset; // in the file
    bool is_code, is_shared;
    const char *path; // NULL: none
};

// Reads /proc/self/maps without using the program's memory. Only one thread may call it at a time: one that looks up
// a call site.
void for_each_mapping(void (*take)(const struct mapping *mapping, void *context), void *context);

// Whether it is of preload.so, the library that records allocations, whose frames stand between callers and us.
bool is_of_tracer(const struct mapping *mapping);

#endif
