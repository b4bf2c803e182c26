// What .eh_frame says of functions (Linux Standard Base, "Exception Frames").
#ifndef TRACKWAY_UNWIND_DESCRIPTION_H
#define TRACKWAY_UNWIND_DESCRIPTION_H

#include "unwind_bytes.h"
#include "unwind_row.h"

enum { RETURN_ADDRESS = 16 }; // its number among the registers

// What the descriptions of many functions share (CIE).
struct shared {
    struct bytes instructions;
    uint64_t code_factor;
    int64_t data_factor;
    unsigned encoding; // of addresses
    bool has_sizes;    // an augmentation says how long it is
    bool is_signal_return;
};

// The description of one function (FDE).
struct description {
    struct shared shared;
    struct bytes instructions;
    uintptr_t low, high;
};

enum finding { FOUND, NOT_DESCRIBED, NO_SENSE };

// The description of the function to which `code` belongs.
enum finding find_description(const struct segment *segment, const unsigned char *header, uintptr_t code,
                              struct description *description);

// An address, encoded as .eh_frame has them.
uintptr_t take_pointer(struct bytes *bytes, unsigned encoding);

#endif
