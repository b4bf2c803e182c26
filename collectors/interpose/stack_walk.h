// Call stacks, followed by the rules of .eh_frame.
#ifndef TRACKWAY_STACK_WALK_H
#define TRACKWAY_STACK_WALK_H

#include "unwind_cache.h"

enum { MOST_FRAMES = 64 };

enum stack_end { OUTERMOST = 0, FRAME_LIMIT = 1, CUT = 2 };

enum { MOST_WORDS = 28 };

// A word that a walk read, so many words from the frame where it began. Two that stand side by side, as a frame pointer
// and a return address do, take the room of two: the place of the first, and then both.
union read_word {
    struct {
        uintptr_t word;
        uint64_t place;
    };
    uintptr_t both __attribute__((vector_size(16)));
};

// A stack that was found before: what a walk from a frame read, and in which unit of the buffer it stands.
struct memo {
    const uintptr_t *frame; // NULL: the memo means nothing
    uint32_t unit;
    bool is_incomplete;              // more was read than it can hold
    uint32_t word_count, pair_count; // words stand at the begin, pairs at the end
    union read_word read[MOST_WORDS];
};

struct frames {
    uint32_t count;
    uint32_t hash;
    enum stack_end end;
    uint64_t of[MOST_FRAMES];
};

// Where a thread's own stack lies.
struct stack_range {
    uintptr_t low;
    uintptr_t high; // 0: not known yet
};

// Looks how far this thread's stack reaches.
void find_stack(struct stack_range *stack);
extern HIDDEN uint32_t __trackway_frames;

// Nothing is read but between the frame of our own function and the end of this thread's stack. On other stacks only
// our own frame is known to exist.
static inline uintptr_t end_of_stack(const struct stack_range *stack, const uintptr_t *frame) {
    uintptr_t here = (uintptr_t)frame;
    return here - stack->low < stack->high - stack->low ? stack->high : here;
}

static inline void forget_memo(struct memo *memo) {
    memo->frame = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Follows the callers of the function with this frame; notes in `memo`, if there is one, what it reads for that.
void walk(const uintptr_t *frame, uintptr_t high, struct frames *frames, struct memo *memo);

// Whether a walk would find the stack of the memo: it would read the same words, and so go the same way. Another caller
// mostly shows among the single words. What was stored last is read first, since it takes longest.
static inline __attribute__((always_inline)) bool repeats(const struct memo *memo, const uintptr_t *frame) {
    typedef uintptr_t pair __attribute__((vector_size(16)));
    typedef pair pair_of_stack __attribute__((aligned(8), may_alias));
    if (memo->frame != frame)
        return false;
    uintptr_t difference = 0;
    const union read_word *end = memo->read + memo->word_count;
#pragma clang loop vectorize(disable) unroll(disable)
    for (const union read_word *read = memo->read; read < end; read++)
        difference |= frame[read->place] ^ read->word;
    if (difference != 0)
        return false;
    pair differences = {0, 0};
    const union read_word *first = memo->read + MOST_WORDS - 2 * (size_t)memo->pair_count;
#pragma clang loop unroll(disable)
    for (const union read_word *read = memo->read + MOST_WORDS - 2; read >= first; read -= 2)
        differences |= *(const pair_of_stack *)(frame + read[0].place) ^ read[1].both;
    return (differences[0] | differences[1]) == 0;
}

#endif
