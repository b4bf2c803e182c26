// The long ways of events: full buffers, many arguments, handlers that interrupt us.
#include "tracer.h"
#include "code.h"
#include "kernel.h"

THREAD_LOCAL struct own __trackway_tracers;

static struct trackway_stream *slot_of(struct trackway_ring *ring, uint32_t number) {
    if (number >= ring->stream_count)
        return NULL;
    return (struct trackway_stream *)((unsigned char *)ring + ring->stream_table_offset) + number;
}

static void begin_stream(struct stream *stream, bool lets_signals_in) {
    struct trackway_ring *ring = __trackway_process.ring;
    uint32_t number = __atomic_fetch_add(&ring->next_stream, 1, __ATOMIC_RELAXED);
    stream->tid = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0);
    stream->records = (struct lane){.kind = TRACKWAY_ALLOCATIONS, .stream = number};
    stream->begun = lets_signals_in;
    stream->slot = slot_of(ring, number);
    if (stream->slot) {
        stream->slot->image = __trackway_process.image;
        __atomic_store_n(&stream->slot->pid, __trackway_process.pid, __ATOMIC_RELEASE);
    }
}

static void forget_buffer(struct tracer *tracer) {
    tracer->cursor = tracer->limit = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void forget_memos(struct own *own) {
    for (int releases = 0; releases < 2; releases++) {
        own->last[releases] = own->memos[releases];
        for (int i = 0; i < MEMOS; i++)
            forget_memo(&own->memos[releases][i]);
    }
}

static void begin_buffer(struct tracer *tracer, struct room room) {
    size_t most = (size_t)MOST_UNITS * UNIT_BYTES, size = (size_t)(room.end - room.begin);
    __builtin_memset(tracer->known, 0, sizeof tracer->known);
    tracer->begin = room.begin;
    tracer->last_ticks = read_ticks();
    put_unit(room.begin, unit_head(THREAD, 0, 0, tracer->stream.tid), tracer->last_ticks);
    tracer->cursor = room.begin + UNIT_BYTES;
    tracer->limit = room.begin + (size < most ? size : most) - EVENT_SLACK;
}

// A handler that runs while we wait may leave by longjmp: so there is no buffer until there is a whole one.
static void renew_buffer(struct own *own, struct tracer *tracer, bool lets_signals_in) {
    uint64_t signals = block_signals();
    if (tracer->stream.tid == 0)
        begin_stream(&tracer->stream, lets_signals_in);
    watch_this_thread(own);
    tracer->stream.signals = signals;
    const unsigned char *end = tracer->cursor;
    forget_buffer(tracer);
    if (tracer == &own->first)
        forget_memos(own);
    __trackway_hand_over(&tracer->stream.records, end, 0);
    begin_buffer(tracer, __trackway_take(&tracer->stream.records, &tracer->stream));
    restore_signals(signals);
}

static unsigned char *put_argument(unsigned char *at, enum argument argument, uint64_t value) {
    if (value == 0)
        return at;
    put_unit(at, unit_head(ARGUMENT, 0, argument, 0), value);
    return at + UNIT_BYTES;
}

static unsigned char *put_more(unsigned char *at, const struct more *more) {
    at = put_argument(at, OLD_ARGUMENT, more->old);
    at = put_argument(at, OLD_SIZE_ARGUMENT, more->old_size);
    at = put_argument(at, PROTECTION_ARGUMENT, more->protection);
    at = put_argument(at, DESCRIPTOR_ARGUMENT, more->descriptor);
    return put_argument(at, OFFSET_ARGUMENT, more->offset);
}

struct event {
    uint32_t operation, by;
    uint64_t address, size;
    const struct more *more;
    const uintptr_t *frame;
};

static void write_event(struct own *own, struct tracer *tracer, const struct event *event) {
    if (tracer->cursor >= tracer->limit)
        renew_buffer(own, tracer, tracer == &own->first);
    uint64_t stack = event->operation == FORKED ? 0 : stack_of(own, tracer, event->frame, true);
    unsigned char *at = tracer->cursor;
    bool is_short = event->size <= UINT16_MAX;
    if (!is_short)
        at = put_argument(at, SIZE_ARGUMENT, event->size);
    if (event->more)
        at = put_more(at, event->more);
    at = put_argument(at, ADDRESS_TOP_ARGUMENT, event->address >> ADDRESS_BITS);
    uint64_t ticks = read_ticks(), delta = ticks - tracer->last_ticks;
    if (delta > UINT32_MAX) {
        put_unit(at, unit_head(THREAD, 0, 0, tracer->stream.tid), ticks);
        at += UNIT_BYTES;
        delta = 0;
    }
    uint64_t address = event->address & ((UINT64_C(1) << ADDRESS_BITS) - 1);
    put_unit(at, unit_head(event->operation, event->by, is_short ? event->size : 0, delta),
             address | stack << ADDRESS_BITS);
    tracer->last_ticks = ticks;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tracer->cursor = at + UNIT_BYTES;
}

// A handler left the function by longjmp if it stood below this one. Only where both are on the thread's own stack does
// that follow; elsewhere events take the way of handlers, which is only slower.
static void forget_left_function(struct own *own, const uintptr_t *frame) {
    uintptr_t low = own->stack.low, size = own->stack.high - low, here = (uintptr_t)frame;
    if (own->inside < here && own->inside - low < size && here - low < size)
        own->inside = 0;
}

static void record_in_handler(struct own *own, const struct event *event) {
    uint64_t signals = block_signals();
    write_event(own, &own->nested, event);
    restore_signals(signals);
}

void record_at_length(uint32_t operation, uint32_t by, uint64_t address, uint64_t size, const struct more *more,
                      const uintptr_t *frame) {
    struct own *own = &__trackway_tracers;
    struct event event = {operation, by, address, size, more, frame};
    if (!is_recorded())
        return;
    forget_left_function(own, frame);
    if (own->inside) {
        record_in_handler(own, &event);
        return;
    }
    set_inside(own, frame);
    if (own->epoch != __trackway_witness.epoch)
        enter_epoch(own);
    write_event(own, &own->first, &event);
    leave(own);
}

void record_at_stack(uint32_t operation, uint32_t by, uint64_t address, uint64_t size, const uintptr_t *frame,
                     uint64_t ticks) {
    struct own *own = &__trackway_tracers;
    struct tracer *tracer = &own->first;
    const unsigned char *former = tracer->cursor;
    uint64_t stack = stack_of(own, tracer, frame, operation != ALLOCATED);
    if (UNLIKELY(tracer->cursor != former))
        ticks = read_ticks(); // to define a stack took long, and may have reported code
    finish_short(own, (struct short_event){operation, by, address, size}, ticks, stack, frame);
}

void begin_child_tracers(uint64_t fork_ticks) {
    struct own *own = &__trackway_tracers;
    own->first = own->nested = (struct tracer){.cursor = NULL};
    forget_memos(own);
    own->epoch = 0;
    own->is_counted = false;
    own->inside = 0;
    begin_child_code();
    record_at_length(FORKED, BY_NOTHING, 0, fork_ticks, NULL, HERE);
}

static void end_tracer(struct tracer *tracer) {
    const unsigned char *end = tracer->cursor;
    forget_buffer(tracer);
    __trackway_hand_over(&tracer->stream.records, end, TRACKWAY_LAST);
}

void end_tracers(struct own *own) {
    end_tracer(&own->first);
    end_tracer(&own->nested);
}
