// The oracle: counts and hashes every access as the program makes it (docs/format.md, section 4).
#include "runtime.h"

#define PRIME UINT64_C(0x9FB21C651E98DF25)

struct oracle_record {
    uint64_t function;
    uint32_t ordinal;
    uint8_t part;
    uint8_t kind;
    uint16_t value_words;
    uint64_t address;
    uint64_t size;
};

// The value of one access.
struct value {
    const uint8_t *bytes;
    uint32_t length; // 0: it has none
};

static uint32_t word_count(struct value value) { return (value.length + 7) / 8; }

static uint64_t word_of(struct value value, uint32_t index) {
    uint64_t word = 0;
    for (uint32_t byte = index * 8; byte < value.length && byte < index * 8 + 8; byte++)
        word |= (uint64_t)value.bytes[byte] << byte % 8 * 8;
    return word;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash ^= word;
    return (hash << 29 | hash >> 35) * PRIME;
}

// Stores both with one instruction: a kill or a handler that doesn't return finds both or neither.
static void publish(struct trackway_stream *slot, uint64_t count, uint64_t hash) {
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));
    *(pair *)slot = (pair){count, hash};
}

static void count_access(struct trackway_stream *slot, const struct oracle_record *access, uint64_t opk,
                         struct value value) {
    uint64_t hash = mix(slot->oracle_hash, access->function ^ opk);
    hash = mix(mix(hash, access->address), access->size);
    for (uint32_t index = 0; index < word_count(value); index++)
        hash = mix(hash, word_of(value, index));
    publish(slot, slot->oracle_count + 1, hash);
}

// What the dump is made of: an access, or words of the value of the one before.
union entry {
    struct oracle_record access;
    uint64_t words[sizeof(struct oracle_record) / 8];
};

static void dump_entry(struct stream *stream, union entry entry) {
    if (stream->oracle_room.begin == stream->oracle_room.end)
        __trackway_oracle_flush(stream);
    *(union entry *)stream->oracle_room.begin = entry;
    stream->oracle_room.begin += sizeof entry;
}

static void dump_access(struct stream *stream, const struct oracle_record *access, struct value value) {
    dump_entry(stream, (union entry){.access = *access});
    uint32_t index = 0;
    while (index < access->value_words) {
        union entry words = {.words = {0}};
        for (uint32_t place = 0; place < sizeof words / 8; place++, index++)
            words.words[place] = word_of(value, index);
        dump_entry(stream, words);
    }
}

static void complain_once(void) {
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain("too many threads for the oracle: the accesses of later ones are not counted");
}

static void report(struct stream *stream, uint64_t function, uint64_t opk, uint64_t address, uint64_t size,
                   struct value value) {
    struct oracle_record access = {
        .function = function,
        .ordinal = (uint32_t)(opk >> 16),
        .part = (uint8_t)(opk >> 8),
        .kind = (uint8_t)opk,
        .value_words = (uint16_t)word_count(value),
        .address = address,
        .size = size,
    };
    if (stream->slot)
        count_access(stream->slot, &access, opk, value);
    else
        complain_once();
    if (stream->dumps_oracle)
        dump_access(stream, &access, value);
}

// The value of a lane of the access that is being reported, of which no later one has anything.
static struct value take_value(struct stream *stream) {
    struct oracle_value given = stream->oracle_value;
    stream->oracle_value = (struct oracle_value){0};
    return (struct value){given.bytes, given.bytes ? given.lane_bytes : 0};
}

static struct value lane_of(struct value first, uint32_t lane) {
    return (struct value){first.bytes + (size_t)lane * first.length, first.length};
}

static bool lane_is_set(const uint8_t *mask_bits, uint32_t lane) { return mask_bits[lane / 8] >> lane % 8 & 1; }

// None outside of windows: records go nowhere then.
static struct stream *recording_stream(void) {
    struct stream *stream = __trackway_this_stream();
    return stream && !stream->outside ? stream : NULL;
}

VISIBLE void __trackway_oracle_value(const void *value, uint32_t lane_bytes) {
    struct stream *stream = recording_stream();
    if (stream)
        stream->oracle_value = (struct oracle_value){value, lane_bytes};
}

VISIBLE void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    struct stream *stream = recording_stream();
    if (stream && size != 0)
        report(stream, function, opk, address, size, take_value(stream));
}

VISIBLE void __trackway_oracle_wait(uint32_t begins) {
    struct stream *stream = recording_stream();
    if (!stream || !stream->slot)
        return;
    if (begins && !stream->published) {
        stream->published = stream->slot;
        stream->held = *stream->slot;
        stream->slot = &stream->held;
    } else if (!begins && stream->published) {
        publish(stream->published, stream->held.oracle_count, stream->held.oracle_hash);
        stream->slot = stream->published;
        stream->published = NULL;
    }
}

VISIBLE void __trackway_oracle_masked(uint64_t function, uint64_t opk, uint64_t address, const uint8_t *mask_bits,
                                      uint32_t lanes, uint32_t size, uint32_t stride, uint32_t packed) {
    struct stream *stream = recording_stream();
    if (!stream)
        return;
    uint64_t set_lanes = 0;
    struct value value = take_value(stream);
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (lane_is_set(mask_bits, lane)) {
            uint64_t place = packed ? set_lanes : lane;
            report(stream, function, opk, address + place * stride, size, lane_of(value, lane));
            set_lanes++;
        }
}

VISIBLE void __trackway_oracle_gather(uint64_t function, uint64_t opk, const uint64_t *addresses,
                                      const uint8_t *mask_bits, uint32_t lanes, uint32_t size) {
    struct stream *stream = recording_stream();
    if (!stream)
        return;
    struct value value = take_value(stream);
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (lane_is_set(mask_bits, lane))
            report(stream, function, opk, addresses[lane], size, lane_of(value, lane));
}
