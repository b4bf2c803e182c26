// A range of addresses into which memkind maps what it allocates, so that its blocks are known by their addresses.
#ifndef TRACKWAY_PLACE_ADDRESSES_H
#define TRACKWAY_PLACE_ADDRESSES_H

#include "ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reserves the range, in which at most so many bytes are mapped at once, or ends the program. `function`: the library's
// function that maps memory for its blocks. While the flag below says that the thread is inside, its mappings go there.
void reserve_addresses(size_t capacity, const void *function);
extern THREAD_LOCAL bool __trackway_maps_far;

// The file of shared mappings; negative before the first one.
int mapped_file(void);
// Called in a forked process. It maps all shared memory from this copy of the file, which replaces the file. False if
// that fails.
bool map_copy(int copy);
// False if there is no room.
bool copy_mappings(int copy);

// No other thread maps between the two.
void enter_addresses(void);
void leave_addresses(void);

#endif
