// A record of 48 bytes for each access, made by a call and written to a file: the scheme of DINAMITE.
#include "lanes.h"
#include "output.h"

struct record {
    uint64_t sequence;
    uint64_t function;
    uint64_t opk;
    uint64_t address;
    uint64_t size;
    uint64_t thread;
};

void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    struct output *output = &this_output;
    char *room = room_for(output, sizeof(struct record));
    struct record record = {output->records++, function, opk, address, size, output->thread};
    memcpy(room, &record, sizeof record);
    output->used += sizeof record;
}
