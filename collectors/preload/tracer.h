// An event's way into the buffer.
//
// A signal handler may come anywhere, and may leave by longjmp. So `inside` says from the first change of a tracer to
// the last that one is under way; a handler that allocates meanwhile has a tracer of its own. The cursor moves on last
// of all: what is left undone is overwritten.
#ifndef TRACKWAY_TRACER_H
#define TRACKWAY_TRACER_H

#include "process.h"
#include "stack.h"
#include "units.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define HERE ((const uintptr_t *)__builtin_frame_address(0))

// An event's data beside address and size.
struct more {
    uint64_t old, old_size, protection, descriptor, offset;
};

// After all that stands before it in the program.
static inline uint64_t read_ticks(void) {
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor);
}

// The processor may read the clock before it is done with earlier instructions. Without another thread that can't be
// noticed: the thread's own events follow one another all the same, also in its handlers.
static inline uint64_t ticks_of_event(const struct own *own) {
    return LIKELY(own->is_alone) ? __builtin_ia32_rdtsc() : read_ticks();
}

// A reader of a buffer that was swept takes a unit for whole when its first half isn't 0.
static inline void put_unit(unsigned char *at, uint64_t head, uint64_t word) {
    uint64_t *halves = (uint64_t *)at;
    __atomic_store_n(&halves[1], word, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&halves[0], head, __ATOMIC_RELAXED);
}

static inline void set_inside(struct own *own, const uintptr_t *frame) {
    __atomic_store_n(&own->inside, (uintptr_t)frame, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void leave(struct own *own) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&own->inside, 0, __ATOMIC_RELAXED);
}

// Ways for what is rare: `frame` is that of the function that was called.
void record_at_length(uint32_t operation, uint32_t by, uint64_t address, uint64_t size, const struct more *more,
                      const uintptr_t *frame);
// Goes on with an allocation or release whose stack isn't that of the last one.
void record_at_stack(uint32_t operation, uint32_t by, uint64_t address, uint64_t size, const uintptr_t *frame,
                     uint64_t ticks);

struct short_event {
    uint32_t operation, by;
    uint64_t address, size;
};

static inline __attribute__((always_inline)) void finish_short(struct own *own, struct short_event event,
                                                               uint64_t ticks, uint64_t stack, const uintptr_t *frame) {
    struct tracer *tracer = &own->first;
    uint64_t delta = ticks - tracer->last_ticks;
    if (UNLIKELY(event.size > UINT16_MAX || (event.address >> ADDRESS_BITS | delta >> 32) != 0)) {
        leave(own);
        record_at_length(event.operation, event.by, event.address, event.size, NULL, frame);
        return;
    }
    put_unit(tracer->cursor, unit_head(event.operation, event.by, event.size, delta),
             event.address | stack << ADDRESS_BITS);
    tracer->last_ticks = ticks;
    tracer->cursor += UNIT_BYTES;
    leave(own);
}

// Allocations and releases, which are nearly all events.
static inline __attribute__((always_inline)) void record(uint32_t operation, uint32_t by, uint64_t address,
                                                         uint64_t size, const uintptr_t *frame) {
    struct own *own = &__trackway_tracers;
    struct tracer *tracer = &own->first;
    bool is_ready = own->epoch == __trackway_witness.epoch && own->inside == 0 && tracer->cursor < tracer->limit;
    if (UNLIKELY(!is_ready)) {
        record_at_length(operation, by, address, size, NULL, frame);
        return;
    }
    set_inside(own, frame);
    // Reading the clock waits for what stands before it; so the walk stands after, beside what the program does next.
    uint64_t ticks = ticks_of_event(own);
    const struct memo *last = own->last[operation != ALLOCATED];
    if (LIKELY(repeats(last, frame)))
        finish_short(own, (struct short_event){operation, by, address, size}, ticks, last->unit, frame);
    else
        record_at_stack(operation, by, address, size, frame, ticks);
}

#endif
