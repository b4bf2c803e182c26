// The oracle: counts and hashes every access as the program makes it (docs/format.md, section 4).
#include "runtime.h"

#define PRIME UINT64_C(0x9FB21C651E98DF25)

struct oracle_record {
    uint64_t function;
    uint32_t ordinal;
    uint8_t part;
    uint8_t kind;
    uint16_t reserved;
    uint64_t address;
    uint64_t size;
};

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash ^= word;
    return (hash << 29 | hash >> 35) * PRIME;
}

// Count and hash change by one instruction: a kill or a handler that doesn't return finds both or neither.
static void count_access(struct trackway_stream *slot, const struct oracle_record *access, uint64_t opk) {
    typedef uint64_t pair __attribute__((vector_size(16)));
    uint64_t hash = mix(slot->oracle_hash, access->function ^ opk);
    pair next = {slot->oracle_count + 1, mix(mix(hash, access->address), access->size)};
    *(pair *)slot = next;
}

static void dump_access(struct stream *stream, const struct oracle_record *access) {
    if (stream->oracle_room.begin == stream->oracle_room.end)
        __trackway_oracle_flush(stream);
    *(struct oracle_record *)stream->oracle_room.begin = *access;
    stream->oracle_room.begin += sizeof *access;
}

static void complain_once(void) {
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain("too many threads for the oracle: the accesses of later ones are not counted");
}

static void report(struct stream *stream, uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    struct oracle_record access = {
        .function = function,
        .ordinal = (uint32_t)(opk >> 16),
        .part = (uint8_t)(opk >> 8),
        .kind = (uint8_t)opk,
        .address = address,
        .size = size,
    };
    if (stream->slot)
        count_access(stream->slot, &access, opk);
    else
        complain_once();
    if (stream->dumps_oracle)
        dump_access(stream, &access);
}

static bool lane_is_set(const uint8_t *mask_bits, uint32_t lane) { return mask_bits[lane / 8] >> lane % 8 & 1; }

VISIBLE void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    struct stream *stream = __trackway_this_stream();
    if (stream && size != 0)
        report(stream, function, opk, address, size);
}

VISIBLE void __trackway_oracle_masked(uint64_t function, uint64_t opk, uint64_t address, const uint8_t *mask_bits,
                                      uint32_t lanes, uint32_t size, uint32_t stride, uint32_t packed) {
    struct stream *stream = __trackway_this_stream();
    if (!stream)
        return;
    uint64_t set_lanes = 0;
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (lane_is_set(mask_bits, lane)) {
            uint64_t place = packed ? set_lanes : lane;
            report(stream, function, opk, address + place * stride, size);
            set_lanes++;
        }
}

VISIBLE void __trackway_oracle_gather(uint64_t function, uint64_t opk, const uint64_t *addresses,
                                      const uint8_t *mask_bits, uint32_t lanes, uint32_t size) {
    struct stream *stream = __trackway_this_stream();
    if (!stream)
        return;
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (lane_is_set(mask_bits, lane))
            report(stream, function, opk, addresses[lane], size);
}
