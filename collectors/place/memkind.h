// Far blocks of memkind's allocator.
#ifndef TRACKWAY_PLACE_MEMKIND_H
#define TRACKWAY_PLACE_MEMKIND_H

#include "plan.h"

// The library can't be loaded in the midst of an allocation, which may be the dynamic linker's: that waits for our
// constructor. What is allocated before isn't placed.
void leave_to_memkind(struct plan *plan);
// Loads memkind, if it was left to it, or ends the program.
void begin_waiting_memkind(void);

#endif
