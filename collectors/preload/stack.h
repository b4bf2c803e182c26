// Call stacks, and those that were found before.
#ifndef TRACKWAY_STACK_H
#define TRACKWAY_STACK_H

#include "process.h"
#include "units.h"
#include "unwind_cache.h"

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

static inline void forget_memo(struct memo *memo) {
    memo->unit = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Follows the callers of the function with this frame; notes in `memo`, if there is one, what it reads for that.
void walk(const uintptr_t *frame, uintptr_t high, struct frames *frames, struct memo *memo);

// Whether a walk would find the stack of the memo: it would read the same words, and so go the same way.
static inline __attribute__((always_inline)) bool repeats(const struct memo *memo, const uintptr_t *frame) {
    if (memo->unit == 0 || memo->frame != frame ||
        memo->unloaded != __atomic_load_n(&__trackway_unloaded, __ATOMIC_RELAXED))
        return false;
    const struct read_word *end = memo->words + memo->count;
    for (const struct read_word *read = memo->words; read < end; read += WORDS_AT_ONCE) {
        uintptr_t difference = 0;
#pragma clang loop vectorize(disable) unroll(full)
        for (uint32_t i = 0; i < WORDS_AT_ONCE; i++)
            difference |= frame[read[i].place] ^ read[i].word;
        if (difference != 0)
            return false;
    }
    return true;
}

// The unit of the stack, looked up by its frames or defined.
uint64_t find_or_define(struct own *own, struct tracer *tracer, const uintptr_t *frame, bool releases);

// The unit of the stack from which the function with this frame was called; 0 if stacks aren't wanted. Mostly it is the
// same as the last time.
static inline __attribute__((always_inline)) uint64_t stack_of(struct own *own, struct tracer *tracer,
                                                               const uintptr_t *frame, bool releases) {
    if (__trackway_frames == 0)
        return 0;
    const struct memo *last = own->last[releases];
    if (__builtin_expect(tracer == &own->first && last && repeats(last, frame), 1))
        return last->unit;
    return find_or_define(own, tracer, frame, releases);
}

#endif
