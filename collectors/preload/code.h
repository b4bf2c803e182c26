// Reports which code is mapped where.
#ifndef TRACKWAY_CODE_H
#define TRACKWAY_CODE_H

#include "stack.h"

// Sees to it that the recorder knows what stands at the frames. Signals may come.
void tell_of_code(const struct frames *frames, uint32_t tid);
// Called in a forked process: no other thread reports code, although one of the parent's may have been about to.
void begin_child_code(void);

#endif
