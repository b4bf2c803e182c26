// The row of .eh_frame that holds at an address (Linux Standard Base, "Exception Frames"; DWARF 5, section 6.4).
#ifndef TRACKWAY_UNWIND_ROW_H
#define TRACKWAY_UNWIND_ROW_H

#include "unwind_rule.h"

// Memory that can be read: of one segment of an object.
struct segment {
    const unsigned char *begin, *end;
};

// Finds the rule for the caller where `code` executes. `header` is the .eh_frame_hdr, which stands in the segment.
// Bytes that make no sense give UNKNOWN_CALLER; code without a description gives FRAME_POINTERS.
rule find_rule(const struct segment *segment, const unsigned char *header, uintptr_t code);

#endif
