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
extern uint32_t __trackway_frames;

// Nothing is read but between the frame of our own function and the end of this thread's stack. On other stacks only
// our own frame is known to exist.
static inline uintptr_t end_of_stack(const struct own *own, const uintptr_t *frame) {
    uintptr_t here = (uintptr_t)frame;
    return here - own->stack_low < own->stack_high - own->stack_low ? own->stack_high : here;
}

// What takes the place of a frame pointer may be any number, also one to which nothing can be added.
static inline bool is_frame(uintptr_t next, const uintptr_t *frame, uintptr_t high) {
    return next > (uintptr_t)frame && next < high && high - next >= 2 * sizeof next && next % sizeof next == 0;
}

static inline void walk(const uintptr_t *frame, uintptr_t high, struct frames *frames) {
    uint32_t most = __trackway_frames, count = 0, hash = 0;
    enum stack_end end;
    for (;;) {
        uintptr_t next = frame[0], code = frame[1];
        frames->of[count++] = code;
        hash = (hash << 5 | hash >> 27) ^ (uint32_t)code;
        bool goes_on = is_frame(next, frame, high);
        end = next == 0 ? OUTERMOST : !goes_on ? NO_FRAME_POINTER : FRAME_LIMIT;
        if (!goes_on || count == most)
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

static inline uint32_t frames_in(const uint64_t *unit) { return (uint32_t)(unit[0] >> 16 & UINT16_MAX); }

// Whether the walk would find just the frames of that stack.
static inline __attribute__((always_inline)) bool leads_to(const uintptr_t *frame, uintptr_t high,
                                                           const uint64_t *unit) {
    uint32_t count = frames_in(unit);
    for (uint32_t i = 1;; i++) {
        if (frame[1] != unit[i])
            return false;
        uintptr_t next = frame[0];
        bool goes_on = is_frame(next, frame, high) && ((const uintptr_t *)next)[1] != 0;
        if (i == count)
            return !goes_on || count == __trackway_frames;
        if (!goes_on)
            return false;
        frame = (const uintptr_t *)next;
    }
}

static inline bool is_defined(const uint64_t *unit, const struct frames *frames) {
    if (frames_in(unit) != frames->count)
        return false;
    // Wide loads of what was just stored in halves would wait for the stores.
#pragma clang loop vectorize(disable)
    for (uint32_t i = 0; i < frames->count; i++)
        if (unit[1 + i] != frames->of[i])
            return false;
    return true;
}

static inline const uint64_t *unit_at(const struct tracer *tracer, uint16_t index) {
    return (const uint64_t *)(tracer->begin + (size_t)index * UNIT_BYTES);
}

// The unit of the stack, looked up by its frames or defined.
uint64_t find_or_define(struct tracer *tracer, const uintptr_t *frame, uintptr_t high);

// The unit of the stack from which the function with this frame was called; 0 if stacks aren't wanted. Mostly it is the
// same as the last time at `guess`.
static inline __attribute__((always_inline)) uint64_t stack_of(struct own *own, struct tracer *tracer,
                                                               const uintptr_t *frame, uint16_t *guess) {
    if (__trackway_frames == 0)
        return 0;
    if (__builtin_expect(own->stack_high == 0, 0))
        find_stack(own);
    uintptr_t high = end_of_stack(own, frame);
    if (*guess == 0 || !leads_to(frame, high, unit_at(tracer, *guess)))
        *guess = (uint16_t)find_or_define(tracer, frame, high);
    return *guess;
}

#endif
