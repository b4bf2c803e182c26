// Call stacks, and those that were found before.
#ifndef TRACKWAY_STACK_H
#define TRACKWAY_STACK_H

#include "process.h"
#include "units.h"

// The unit of the stack from which the function with this frame was called, looked up by its frames or defined; 0 if
// stacks aren't wanted.
uint64_t stack_of(struct own *own, struct tracer *tracer, const uintptr_t *frame, bool releases);

#endif
