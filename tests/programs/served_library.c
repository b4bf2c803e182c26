// What served.c loads and unloads.
#include <stdint.h>

static uint64_t numbers[1000];

uint64_t total_of_library(unsigned count) {
    uint64_t total = 0;
    for (unsigned i = 0; i < count; i++)
        numbers[i] = i;
    for (unsigned i = 0; i < count; i++)
        total += numbers[i];
    return total;
}
