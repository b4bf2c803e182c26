// Reading the bytes of .eh_frame: nothing is read outside of them, whatever they say.
#ifndef TRACKWAY_UNWIND_BYTES_H
#define TRACKWAY_UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bytes from `at` on. Reading past the end yields 0 and sets `has_failed`.
struct bytes {
    const unsigned char *at, *end;
    bool has_failed;
};

static inline const unsigned char *take_bytes(struct bytes *bytes, uint64_t count) {
    if (bytes->has_failed || count > (uint64_t)(bytes->end - bytes->at)) {
        bytes->has_failed = true;
        return NULL;
    }
    const unsigned char *taken = bytes->at;
    bytes->at += count;
    return taken;
}

static inline uint64_t take_unsigned(struct bytes *bytes, unsigned size) {
    uint64_t number = 0;
    const unsigned char *taken = take_bytes(bytes, size);
    if (taken)
        __builtin_memcpy(&number, taken, size);
    return number;
}

static inline int64_t take_signed(struct bytes *bytes, unsigned size) {
    unsigned unused = 64 - 8 * size;
    return (int64_t)(take_unsigned(bytes, size) << unused) >> unused;
}

static inline uint64_t take_leb(struct bytes *bytes, bool is_signed) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = take_unsigned(bytes, 1);
        number |= (byte & 0x7F) << shift;
        if (byte & 0x80)
            continue;
        bool is_negative = is_signed && (byte & 0x40) && shift + 7 < 64;
        return is_negative ? number | UINT64_MAX << (shift + 7) : number;
    }
    bytes->has_failed = true;
    return 0;
}

static inline uint64_t take_uleb(struct bytes *bytes) { return take_leb(bytes, false); }
static inline int64_t take_sleb(struct bytes *bytes) { return (int64_t)take_leb(bytes, true); }

#endif
