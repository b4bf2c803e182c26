// The object to which code belongs.
#ifndef TRACKWAY_UNWIND_OBJECT_H
#define TRACKWAY_UNWIND_OBJECT_H

#include "unwind_row.h"

struct unwind_object {
    struct segment segment;      // in which the header stands
    const unsigned char *header; // .eh_frame_hdr; none: nothing describes the object's code
};

// False if the code belongs to no object: if it was made at run time, or if the C library is older than 2.35, which
// can't be asked without a lock.
bool find_object(uintptr_t code, struct unwind_object *object);

#endif
