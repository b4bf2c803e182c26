// Streams of signal handlers. A handler may interrupt recording code anywhere, also where the position of the next
// record is in a register. So it gets another stream, and what it interrupted finds everything as it was.
//
// A handler may be left by siglongjmp, and its stream is then simply the thread's present one. It may also be left by
// swapcontext and come back. What it interrupted is therefore kept until its frame on the stack is surely gone.
#include "kernel.h"
#include "runtime.h"

// One for each thread that runs a handler, and for each level of nesting.
#define HANDLER_STREAMS 1024

static struct stream pool[HANDLER_STREAMS];
static uint32_t claimed[HANDLER_STREAMS];
static uint32_t last_mark;

// Serves when the pool is used up. Being busy for ever it only gets scratch memory, so that threads can share it.
static struct stream lost = {.begun = true, .busy = true};

static struct stream *current_of(struct thread *thread) { return thread->current ? thread->current : &thread->first; }

static void switch_to(struct thread *thread, struct stream *stream, struct trackway_thread room) {
    thread->current = stream;
    __trackway_thread = room;
}

// The shared stream has no state worth keeping.
static void keep_room(struct stream *stream) {
    if (stream != &lost)
        stream->rest = __trackway_thread;
}

// Whether no record stands behind the published ones. A record's first four bytes are never all zero, but the compiler
// may store the others first.
static bool is_published(const struct stream *stream) {
    if (!stream->records.buffer)
        return true;
    const unsigned char *cursor = stream->rest.cursor, *last = stream->rest.limit + TRACKWAY_SLACK;
    const unsigned char *end = last - cursor > TRACKWAY_SLACK ? cursor + TRACKWAY_SLACK : last;
    for (const unsigned char *byte = cursor; byte < end; byte++)
        if (*byte)
            return false;
    return true;
}

// What was interrupted will not go on. If it had records that only its registers knew of, they end the stream.
static void abandon(struct stream *stream) {
    stream->frame = NULL;
    stream->busy = false; // it may have been waiting for a buffer
    if (!stream->records.buffer)
        stream->rest = (struct trackway_thread){.cursor = NULL};
    if (is_published(stream))
        return;
    __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, TRACKWAY_LAST);
    __trackway_hand_over(&stream->records, stream->rest.cursor, TRACKWAY_ABANDONED);
    *stream = (struct stream){.next = stream->next};
}

static bool is_idle(struct thread *thread, const struct stream *stream) {
    return !stream->frame && stream != current_of(thread);
}

static struct stream *find_idle(struct thread *thread) {
    struct stream *stream = &thread->first;
    while (stream && !is_idle(thread, stream))
        stream = stream->next;
    return stream;
}

static void abandon_where_frame_is_gone(struct thread *thread) {
    for (struct stream *stream = &thread->first; stream; stream = stream->next)
        if (stream->frame && !word_is_still(&stream->frame->mark, stream->mark))
            abandon(stream);
}

static struct stream *claim_stream(struct thread *thread) {
    for (uint32_t i = 0; i < HANDLER_STREAMS; i++)
        if (!__atomic_load_n(&claimed[i], __ATOMIC_RELAXED) && !__atomic_exchange_n(&claimed[i], 1, __ATOMIC_ACQUIRE)) {
            pool[i] = (struct stream){.next = thread->first.next};
            thread->first.next = &pool[i];
            return &pool[i];
        }
    return NULL;
}

static void note_loss(struct stream *interrupted) {
    static uint32_t complained;
    if (interrupted->slot)
        interrupted->slot->dropped++;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain("more than 1,024 signal handlers run at once: what further ones do is not recorded");
}

static struct stream *stream_for_handler(struct thread *thread, struct stream *interrupted) {
    struct stream *stream = find_idle(thread);
    if (stream)
        return stream;
    abandon_where_frame_is_gone(thread);
    stream = find_idle(thread);
    if (!stream)
        stream = claim_stream(thread);
    if (stream)
        return stream;
    note_loss(interrupted);
    return &lost;
}

static uint32_t next_mark(void) { return __atomic_add_fetch(&last_mark, 1, __ATOMIC_RELAXED) * UINT32_C(0x9E3779B1); }

VISIBLE void __trackway_enter_handler(struct handler_frame *frame) {
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    struct thread *thread = &__trackway_own;
    struct stream *interrupted = current_of(thread);
    *frame = (struct handler_frame){next_mark(), interrupted, __trackway_thread};
    interrupted->mark = frame->mark;
    interrupted->frame = frame;
    keep_room(interrupted);
    struct stream *stream = stream_for_handler(thread, interrupted);
    switch_to(thread, stream, stream->rest);
    restore_signals(signals);
}

VISIBLE void __trackway_leave_handler(struct handler_frame *frame) {
    uint64_t signals = block_signals();
    struct thread *thread = &__trackway_own;
    struct stream *interrupted = frame->interrupted;
    keep_room(current_of(thread));
    if (interrupted == &lost || interrupted->frame == frame) {
        interrupted->frame = NULL;
        switch_to(thread, interrupted, frame->room);
    } else {
        // This process was forked by the handler, and what was interrupted would write to its parent's buffer.
        __trackway_detach();
    }
    restore_signals(signals);
}

static void release(struct stream *stream) { __atomic_store_n(&claimed[stream - pool], 0, __ATOMIC_RELEASE); }

void __trackway_end_streams(struct thread *thread) {
    keep_room(current_of(thread));
    struct stream *next;
    for (struct stream *stream = &thread->first; stream; stream = next) {
        next = stream->next;
        if (stream->frame)
            abandon(stream);
        __trackway_hand_over(&stream->records, stream->rest.cursor, TRACKWAY_LAST);
        __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, TRACKWAY_LAST);
        stream->oracle_room = (struct room){NULL, NULL};
        if (stream != &thread->first)
            release(stream);
    }
    thread->first.next = NULL;
    switch_to(thread, &thread->first, (struct trackway_thread){.cursor = NULL});
}

void __trackway_forget_handlers(void) {
    for (uint32_t i = 0; i < HANDLER_STREAMS; i++)
        if (claimed[i]) {
            pool[i] = (struct stream){0};
            claimed[i] = 0;
        }
}
