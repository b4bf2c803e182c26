// Stacks that a buffer doesn't hold yet.
#include "code.h"
#include "tracer.h"

#include <pthread.h>

uint32_t __trackway_frames;

// The code that calls main, and that in which threads begin, has no frame pointer; it stands next to these functions of
// the C library.
enum { NEAR = 4096 };
extern int __libc_start_main(void);

static bool is_near(uint64_t code, uintptr_t function) { return code - function + NEAR < 2 * NEAR; }

static bool is_outermost(uint64_t code) {
    return is_near(code, (uintptr_t)__libc_start_main) || is_near(code, (uintptr_t)pthread_create);
}

// Stores a stack that is new in the buffer; returns its unit.
static uint64_t define(struct tracer *tracer, const struct frames *frames, uint16_t *known) {
    tell_of_code(frames, tracer->stream.tid);
    unsigned char *unit = tracer->cursor;
    uint64_t *words = (uint64_t *)unit;
    enum stack_end end = frames->end;
    if (end == NO_FRAME_POINTER && is_outermost(frames->of[frames->count - 1]))
        end = OUTERMOST;
    words[0] = unit_head(STACK, end, frames->count, 0);
    for (uint32_t i = 0; i < frames->count; i++)
        words[1 + i] = frames->of[i];
    // The memory may have been somebody else's scratch.
    if (frames->count % 2 == 0)
        words[1 + frames->count] = 0;
    *known = (uint16_t)((unit - tracer->begin) / UNIT_BYTES);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tracer->cursor = unit + (1 + frames->count / 2) * UNIT_BYTES;
    return *known;
}

uint64_t find_or_define(struct tracer *tracer, const uintptr_t *frame, uintptr_t high) {
    struct frames frames;
    walk(frame, high, &frames);
    uint16_t *known = &tracer->known[frames.hash * UINT32_C(0x9E3779B1) >> 24];
    if (LIKELY(*known != 0 && is_defined(unit_at(tracer, *known), &frames)))
        return *known;
    return define(tracer, &frames, known);
}
