// Stacks that a buffer doesn't hold yet.
#include "code.h"
#include "tracer.h"

uint32_t __trackway_frames;

// Stores a stack that is new in the buffer; returns its unit.
static uint64_t define(struct tracer *tracer, const struct frames *frames, uint16_t *known) {
    tell_of_code(frames, tracer->stream.tid);
    unsigned char *unit = tracer->cursor;
    uint64_t *words = (uint64_t *)unit;
    words[0] = unit_head(STACK, frames->end, frames->count, 0);
    for (uint32_t i = 0; i < frames->count; i++)
        words[1 + i] = frames->of[i];
    // The memory may have been another thread's scratch.
    if (frames->count % 2 == 0)
        words[1 + frames->count] = 0;
    *known = (uint16_t)((unit - tracer->begin) / UNIT_BYTES);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tracer->cursor = unit + (size_t)(1 + frames->count / 2) * UNIT_BYTES;
    return *known;
}

static uint32_t frames_in(const uint64_t *unit) { return (uint32_t)(unit[0] >> 16 & UINT16_MAX); }

static bool is_defined(const uint64_t *unit, const struct frames *frames) {
    if (frames_in(unit) != frames->count)
        return false;
    // Wide loads of what was just stored in halves would wait for the stores.
#pragma clang loop vectorize(disable)
    for (uint32_t i = 0; i < frames->count; i++)
        if (unit[1 + i] != frames->of[i])
            return false;
    return true;
}

static const uint64_t *unit_at(const struct tracer *tracer, uint16_t index) {
    return (const uint64_t *)(tracer->begin + (size_t)index * UNIT_BYTES);
}

static uint16_t unit_of(struct tracer *tracer, const struct frames *frames) {
    uint16_t *known = &tracer->known[frames->hash * UINT32_C(0x9E3779B1) >> 24];
    if (LIKELY(*known != 0 && is_defined(unit_at(tracer, *known), frames)))
        return *known;
    return (uint16_t)define(tracer, frames, known);
}

static uint16_t walk_anew(const struct own *own, struct tracer *tracer, const uintptr_t *frame, struct memo *memo) {
    struct frames frames;
    walk(frame, end_of_stack(&own->stack, frame), &frames, memo);
    return unit_of(tracer, &frames);
}

// A handler that comes meanwhile may leave by longjmp: so the memo is valid last of all.
static uint16_t walk_and_remember(struct own *own, const uintptr_t *frame, struct memo *memo) {
    forget_memo(memo);
    memo->is_incomplete = false;
    memo->unit = walk_anew(own, &own->first, frame, memo);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!memo->is_incomplete)
        memo->frame = frame;
    return (uint16_t)memo->unit;
}

// Other places of a program mostly have other memos.
static uint32_t memo_at(const uintptr_t *frame) {
    uint64_t place = frame[1] ^ (uintptr_t)frame << 16;
    return (uint32_t)(place * UINT64_C(0x9E3779B97F4A7C15) >> 32) % MEMOS;
}

uint64_t stack_of(struct own *own, struct tracer *tracer, const uintptr_t *frame, bool releases) {
    if (__trackway_frames == 0)
        return 0;
    if (UNLIKELY(own->stack.high == 0))
        find_stack(&own->stack);
    if (tracer != &own->first)
        return walk_anew(own, tracer, frame, NULL);
    struct memo *memo = &own->memos[releases][memo_at(frame)];
    own->last[releases] = memo;
    return repeats(memo, frame) ? memo->unit : walk_and_remember(own, frame, memo);
}
