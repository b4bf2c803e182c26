// A line of text for each access, formatted by the C library and written to a file: what a first memory tracer does.
#include "lanes.h"
#include "output.h"

enum { LONGEST_LINE = 128 };

void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    static const char *const kinds[] = {"load", "store"};
    struct output *output = &this_output;
    char *room = room_for(output, LONGEST_LINE);
    unsigned kind = (unsigned)(opk & 1);
    int length = snprintf(room, LONGEST_LINE, "%llu %s 0x%llx %llu %llx:%llu\n", (unsigned long long)output->thread,
                          kinds[kind], (unsigned long long)address, (unsigned long long)size,
                          (unsigned long long)function, (unsigned long long)(opk >> 16));
    output->used += (size_t)length;
}
