// Call stacks by frame pointers.
#ifndef TRACKWAY_STACK_H
#define TRACKWAY_STACK_H

#include "process.h"
#include "units.h"

struct frames {
    uint32_t count;
    uint32_t hash;
    enum stack_end end;
    uint64_t of[MOST_FRAMES];
};

// Looks how far this thread's stack reaches.
void find_stack(struct own *own);
// Stores a stack that is new in the buffer; returns its unit.
uint64_t define_stack(struct tracer *tracer, const struct frames *frames, uint16_t *known);
extern uint32_t __trackway_frames;

// Nothing is read but between the frame of our own function and the end of this thread's stack. On other stacks only
// our own frame is known to exist.
static inline __attribute__((always_inline)) void walk(const struct own *own, const uintptr_t *frame,
                                                       struct frames *frames) {
    uint32_t most = __trackway_frames, count = 0, hash = 0;
    uintptr_t here = (uintptr_t)frame;
    uintptr_t high = here - own->stack_low < own->stack_high - own->stack_low ? own->stack_high : here;
    enum stack_end end;
    for (;;) {
        uintptr_t next = frame[0], code = frame[1];
        frames->of[count++] = code;
        hash = (hash << 5 | hash >> 27) ^ (uint32_t)code;
        bool is_frame = next > (uintptr_t)frame && next + 2 * sizeof(uintptr_t) <= high && next % sizeof next == 0;
        end = next == 0 ? OUTERMOST : !is_frame ? NO_FRAME_POINTER : FRAME_LIMIT;
        if (!is_frame || count == most)
            break;
        frame = (const uintptr_t *)next;
        if (frame[1] == 0) {
            end = OUTERMOST;
            break;
        }
    }
    frames->count = count;
    frames->hash = hash;
    frames->end = end;
}

static inline bool is_defined(const unsigned char *unit, const struct frames *frames) {
    const uint64_t *words = (const uint64_t *)unit;
    if ((words[0] >> 16 & UINT16_MAX) != frames->count)
        return false;
    uint64_t differences = 0;
    for (uint32_t i = 0; i < frames->count; i++)
        differences |= words[1 + i] ^ frames->of[i];
    return differences == 0;
}

// The unit of the stack from which the function with this frame was called; 0 if stacks aren't wanted.
static inline __attribute__((always_inline)) uint64_t stack_of(struct own *own, struct tracer *tracer,
                                                               const uintptr_t *frame) {
    struct frames frames;
    if (__trackway_frames == 0)
        return 0;
    if (__builtin_expect(own->stack_high == 0, 0))
        find_stack(own);
    walk(own, frame, &frames);
    uint16_t *known = &tracer->known[frames.hash * UINT32_C(0x9E3779B1) >> 24];
    if (__builtin_expect(*known != 0 && is_defined(tracer->begin + *known * UNIT_BYTES, &frames), 1))
        return *known;
    return define_stack(tracer, &frames, known);
}

#endif
