// Finds the description of a function through .eh_frame_hdr.
#include "unwind_description.h"

// ---- Encoded pointers ----------------------------------------------------------------------------------------------

enum { FORMAT = 0x0F, RELATIVE_TO = 0x70, TO_ITSELF = 0x10, INDIRECT = 0x80, SEARCHABLE = 0x3B, FOUR_BYTES = 0x03 };

static uint64_t take_number(struct bytes *bytes, unsigned encoding) {
    switch (encoding & FORMAT) {
    case 0x0:
    case 0x4:
    case 0xC:
        return take_unsigned(bytes, 8);
    case 0x1:
        return take_uleb(bytes);
    case 0x2:
        return take_unsigned(bytes, 2);
    case 0x3:
        return take_unsigned(bytes, 4);
    case 0x9:
        return (uint64_t)take_sleb(bytes);
    case 0xA:
        return (uint64_t)take_signed(bytes, 2);
    case 0xB:
        return (uint64_t)take_signed(bytes, 4);
    default:
        bytes->has_failed = true;
        return 0;
    }
}

uintptr_t take_pointer(struct bytes *bytes, unsigned encoding) {
    uintptr_t here = (uintptr_t)bytes->at;
    if ((encoding & INDIRECT) || ((encoding & RELATIVE_TO) != 0 && (encoding & RELATIVE_TO) != TO_ITSELF))
        bytes->has_failed = true;
    return take_number(bytes, encoding) + (encoding & RELATIVE_TO ? here : 0);
}

// ---- Descriptions --------------------------------------------------------------------------------------------------

// An entry of .eh_frame without its length; 64-bit lengths are not used by compilers.
static struct bytes entry_at(const struct segment *segment, uintptr_t address) {
    struct bytes none = {.has_failed = true};
    if (address < (uintptr_t)segment->begin || address >= (uintptr_t)segment->end)
        return none;
    struct bytes bytes = {(const unsigned char *)address, segment->end, false};
    uint64_t length = take_unsigned(&bytes, 4);
    if (bytes.has_failed || length == UINT32_MAX || length > (uint64_t)(bytes.end - bytes.at))
        return none;
    bytes.end = bytes.at + length;
    return bytes;
}

static void take_augmentation(struct bytes *bytes, const char *letters, struct shared *shared) {
    if (*letters == 0)
        return;
    shared->has_sizes = *letters == 'z';
    if (!shared->has_sizes) {
        bytes->has_failed = true;
        return;
    }
    uint64_t size = take_uleb(bytes);
    struct bytes data = {bytes->at, bytes->end, false};
    take_bytes(bytes, size);
    for (letters++; *letters && !data.has_failed; letters++) {
        if (*letters == 'R')
            shared->encoding = (unsigned)take_unsigned(&data, 1);
        else if (*letters == 'P') // the personality: nothing to us
            take_number(&data, (unsigned)take_unsigned(&data, 1));
        else if (*letters == 'L')
            take_unsigned(&data, 1);
        else if (*letters == 'S')
            shared->is_signal_return = true;
        else if (*letters != 'B')
            data.has_failed = true;
    }
    bytes->has_failed |= data.has_failed;
}

static bool read_shared(const struct segment *segment, uintptr_t address, struct shared *shared) {
    struct bytes bytes = entry_at(segment, address);
    bool is_shared = take_unsigned(&bytes, 4) == 0;
    uint64_t version = take_unsigned(&bytes, 1);
    const char *letters = (const char *)bytes.at;
    while (take_unsigned(&bytes, 1) != 0)
        ;
    if (bytes.has_failed || !is_shared || (version != 1 && version != 3))
        return false;
    *shared = (struct shared){.code_factor = take_uleb(&bytes)};
    shared->data_factor = take_sleb(&bytes);
    uint64_t column = version == 1 ? take_unsigned(&bytes, 1) : take_uleb(&bytes);
    take_augmentation(&bytes, letters, shared);
    shared->instructions = bytes;
    return !bytes.has_failed && column == RETURN_ADDRESS;
}

static bool read_description(const struct segment *segment, uintptr_t address, struct description *description) {
    struct bytes bytes = entry_at(segment, address);
    uintptr_t here = (uintptr_t)bytes.at;
    uint64_t distance = take_unsigned(&bytes, 4);
    if (bytes.has_failed || distance == 0 || !read_shared(segment, here - distance, &description->shared))
        return false;
    description->low = take_pointer(&bytes, description->shared.encoding);
    description->high = description->low + take_number(&bytes, description->shared.encoding);
    if (description->shared.has_sizes)
        take_bytes(&bytes, take_uleb(&bytes));
    description->instructions = bytes;
    return !bytes.has_failed;
}

// ---- The search table ----------------------------------------------------------------------------------------------

struct search_table {
    const unsigned char *header, *entries;
    uint32_t count;
};

enum { ENTRY_BYTES = 8 };

// Address in the entry: at offset 0 where its function begins, and past that where its description is.
static uintptr_t address_in(const struct search_table *table, uint32_t entry, unsigned offset) {
    int32_t distance;
    __builtin_memcpy(&distance, table->entries + (size_t)entry * ENTRY_BYTES + offset, sizeof distance);
    return (uintptr_t)table->header + (uintptr_t)(intptr_t)distance;
}

// The description of the last function that begins at or before the code; 0: there is none.
static uintptr_t search(const struct search_table *table, uintptr_t code) {
    uint32_t first = 0, count = table->count;
    while (count > 0) {
        uint32_t half = count / 2;
        if (address_in(table, first + half, 0) <= code) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first == 0 ? 0 : address_in(table, first - 1, 4);
}

static bool read_header(const struct segment *segment, const unsigned char *header, struct search_table *table) {
    if (header < segment->begin || header >= segment->end)
        return false;
    struct bytes bytes = {header, segment->end, false};
    uint64_t version = take_unsigned(&bytes, 1);
    unsigned frames_encoding = (unsigned)take_unsigned(&bytes, 1), count_encoding = (unsigned)take_unsigned(&bytes, 1);
    uint64_t entry_encoding = take_unsigned(&bytes, 1);
    take_number(&bytes, frames_encoding);
    if (bytes.has_failed || version != 1 || count_encoding != FOUR_BYTES || entry_encoding != SEARCHABLE)
        return false;
    table->header = header;
    table->count = (uint32_t)take_unsigned(&bytes, 4);
    table->entries = take_bytes(&bytes, (uint64_t)table->count * ENTRY_BYTES);
    return !bytes.has_failed;
}

enum finding find_description(const struct segment *segment, const unsigned char *header, uintptr_t code,
                              struct description *description) {
    struct search_table table;
    if (!read_header(segment, header, &table))
        return NO_SENSE;
    uintptr_t found = search(&table, code);
    if (found == 0)
        return NOT_DESCRIBED;
    if (!read_description(segment, found, description))
        return NO_SENSE;
    return code - description->low < description->high - description->low ? FOUND : NOT_DESCRIBED;
}
