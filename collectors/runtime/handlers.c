// Streams of signal handlers. A handler may interrupt recording code anywhere, also where the position of the next
// record is in a register. So it gets another stream, and what it interrupted finds everything as it was.
//
// A handler may be left by siglongjmp, and its stream is then simply the thread's present one. It may also be left by
// swapcontext and come back. What it interrupted is therefore kept until its frame on the stack is surely gone.
//
// A handler on an alternate stack may give the thread to another task. Its frame is gone then, and yet what it
// interrupted waits: its stream is parked.
#include "kernel.h"
#include "runtime.h"

#include <sys/mman.h>

// One stream for each thread that runs a handler, and for each level of nesting.
#define STREAMS_OF_POOL 256

// Parked streams of a thread. Of more, the one that has waited longest is taken for left for good.
#define MOST_PARKED 64

struct pooled_stream {
    struct stream stream; // first, so that their addresses are the same
    uint32_t claimed;
};

struct pool {
    struct pooled_stream streams[STREAMS_OF_POOL];
    struct pool *next; // a further one, once this one was used up
};

static struct pool first_pool;
static uint32_t last_mark;

// Serves when there is no memory for a further pool. Being busy for ever it only gets scratch memory, so that threads
// can share it.
static struct stream lost = {.begun = true, .busy = true};

static struct stream *current_of(struct thread *thread) { return thread->current ? thread->current : &thread->first; }

static void switch_to(struct thread *thread, struct stream *stream, struct trackway_thread room) {
    thread->current = stream;
    __trackway_thread = room;
    if (stream->outside) // a handler may have opened a window: look at the next record
        __trackway_thread.limit = NULL;
}

// The shared stream has no state worth keeping.
static void keep_room(struct stream *stream) {
    if (stream != &lost)
        stream->rest = __trackway_thread;
}

// Whether no record stands after the published ones. A record's first four bytes are never all zero, but the compiler
// may store the others first.
static bool is_published(const struct stream *stream) {
    if (!stream->records.buffer)
        return true;
    if (!__trackway_holds(&stream->records, stream->rest.cursor))
        return false; // code with another stream's position has published that
    const unsigned char *cursor = stream->rest.cursor, *last = stream->rest.limit + TRACKWAY_SLACK;
    const unsigned char *end = last - cursor > TRACKWAY_SLACK ? cursor + TRACKWAY_SLACK : last;
    for (const unsigned char *byte = cursor; byte < end; byte++)
        if (*byte)
            return false;
    return true;
}

// It begins anew with its next record.
static void forget(struct stream *stream) {
    *stream = (struct stream){.next = stream->next, .rest = __trackway_no_room};
}

// The interrupted code will not go on. If it had records that only its registers knew of, they end the stream.
static void abandon(struct stream *stream) {
    stream->frame = NULL;
    stream->parked = 0;
    stream->busy = false; // it may have been waiting for a buffer
    if (!stream->records.buffer)
        stream->rest = __trackway_no_room;
    if (is_published(stream))
        return;
    __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, TRACKWAY_LAST);
    bool is_known = __trackway_holds(&stream->records, stream->rest.cursor);
    __trackway_hand_over(&stream->records, is_known ? stream->rest.cursor : NULL, TRACKWAY_ABANDONED);
    forget(stream);
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
        if (stream->frame && !stream->parked && !word_is_still(&stream->frame->mark, stream->mark))
            abandon(stream);
}

// What code goes on with is unknown where a handler edited its context: it may be the position of any stream that
// waits, or waited. Were that below the limit of the thread's present stream, the code would write up to there. So the
// present stream's buffers are mapped below all others: a foreign position is past their limits, and is noticed at
// once.
static const unsigned char *lowest_of_waiting(const struct thread *thread) {
    const unsigned char *lowest = (const unsigned char *)UINTPTR_MAX;
    for (const struct stream *stream = &thread->first; stream; stream = stream->next)
        if (stream->frame && stream->records.low && stream->records.low < lowest)
            lowest = stream->records.low;
    return lowest;
}

static void guard(struct thread *thread, struct stream *stream) {
    if (stream == &lost)
        return;
    stream->below = lowest_of_waiting(thread);
    __trackway_hand_over(&stream->records, __trackway_thread.cursor, 0);
    // No limit, so that a fresh buffer is taken; and a position above it, as code may go on with that, too.
    __trackway_thread = __trackway_no_room;
    __trackway_thread.cursor = __trackway_scratch().begin;
}

void __trackway_leave_stale(struct stream *stream, const unsigned char *cursor) {
    struct thread *thread = &__trackway_own;
    for (struct stream *other = &thread->first; other; other = other->next)
        if (other->frame && __trackway_holds(&other->records, cursor))
            abandon(other);
    if (stream->records.buffer && !__trackway_holds(&stream->records, cursor)) {
        __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, TRACKWAY_LAST);
        __trackway_hand_over(&stream->records, NULL, TRACKWAY_ABANDONED);
        forget(stream);
    }
    stream->below = lowest_of_waiting(thread);
}

// Code that waits for a buffer comes back with its stream in a register: that one is kept, however long it waits.
static bool may_be_left(const struct stream *stream) { return stream->parked && !stream->busy; }

// The thread goes on with another stream already.
static void park(struct thread *thread, struct stream *parked) {
    parked->parked = ++thread->parkings;
    struct stream *oldest = parked;
    uint32_t count = 0;
    for (struct stream *stream = &thread->first; stream; stream = stream->next) {
        count += may_be_left(stream);
        if (may_be_left(stream) && stream->parked < oldest->parked)
            oldest = stream;
    }
    if (count > MOST_PARKED)
        abandon(oldest);
}

static struct pooled_stream *claim_from(struct pool *pool) {
    for (uint32_t i = 0; i < STREAMS_OF_POOL; i++) {
        struct pooled_stream *pooled = &pool->streams[i];
        if (!__atomic_load_n(&pooled->claimed, __ATOMIC_RELAXED) &&
            !__atomic_exchange_n(&pooled->claimed, 1, __ATOMIC_ACQUIRE))
            return pooled;
    }
    return NULL;
}

// Another thread may add one at the same time; then that one serves.
static struct pool *pool_behind(struct pool *pool) {
    struct pool *present = __atomic_load_n(&pool->next, __ATOMIC_ACQUIRE);
    if (present)
        return present;
    struct pool *added = mmap(NULL, sizeof *added, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (added == MAP_FAILED)
        return NULL;
    if (__atomic_compare_exchange_n(&pool->next, &present, added, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return added;
    munmap(added, sizeof *added);
    return present;
}

static struct stream *claim_stream(struct thread *thread) {
    __trackway_watch_this_thread(); // its end gives the stream back
    for (struct pool *pool = &first_pool; pool; pool = pool_behind(pool)) {
        struct pooled_stream *pooled = claim_from(pool);
        if (!pooled)
            continue;
        pooled->stream = (struct stream){.next = thread->first.next};
        thread->first.next = &pooled->stream;
        return &pooled->stream;
    }
    return NULL;
}

static void note_loss(struct stream *interrupted) {
    static uint32_t complained;
    if (interrupted->slot)
        interrupted->slot->dropped++;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain("no memory for the streams of so many signal handlers at once: what further ones do is not "
                            "recorded");
}

static uint32_t count_waiting(const struct thread *thread) {
    uint32_t count = 0;
    for (const struct stream *stream = &thread->first; stream; stream = stream->next)
        count += stream->frame != NULL;
    return count;
}

// Looking costs a system call for each stream, so the next look waits until twice as many streams wait.
static void look_for_idle(struct thread *thread) {
    if (count_waiting(thread) < thread->look_at)
        return;
    abandon_where_frame_is_gone(thread);
    thread->look_at = 2 * count_waiting(thread);
}

static struct stream *stream_for_handler(struct thread *thread, struct stream *interrupted) {
    struct stream *stream = find_idle(thread);
    if (stream) {
        stream->below = NULL;
        return stream;
    }
    look_for_idle(thread);
    stream = find_idle(thread);
    if (!stream)
        stream = claim_stream(thread);
    if (stream)
        return stream;
    note_loss(interrupted);
    return &lost;
}

static uint32_t next_mark(void) { return __atomic_add_fetch(&last_mark, 1, __ATOMIC_RELAXED) * UINT32_C(0x9E3779B1); }

VISIBLE void __trackway_enter_handler(struct handler_frame *frame, const void *context) {
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    struct thread *thread = &__trackway_own;
    struct stream *interrupted = current_of(thread);
    *frame = (struct handler_frame){next_mark(), interrupted, __trackway_thread, __trackway_place_of(context)};
    interrupted->mark = frame->mark;
    interrupted->frame = frame;
    interrupted->place = frame->place;
    keep_room(interrupted);
    struct stream *stream = stream_for_handler(thread, interrupted);
    switch_to(thread, stream, stream->rest);
    restore_signals(signals);
}

static bool is_same(struct place one, struct place other) { return one.code == other.code && one.stack == other.stack; }

static bool waits_at(const struct stream *stream, struct place place) {
    return stream->frame && is_same(stream->place, place) &&
           (stream->parked || word_is_still(&stream->frame->mark, stream->mark));
}

// Whether a handler moved on within the call that it interrupted, as if it had executed some instructions. Another call
// of the function, as another task may be in, is further away on the stack, or on another.
static bool is_same_call(struct place one, struct place other) {
    const uintptr_t near = 4096;
    return one.stack - other.stack + near <= 2 * near && __trackway_same_function(one.code, other.code);
}

// The stream of the code to which the handler returns. A handler may have edited its context, so that its thread goes
// on elsewhere: in the same call, whose position in its stream is in a register; where another handler interrupted
// it, as schedulers do; or in another call, while what was interrupted is left as by siglongjmp.
static struct stream *stream_to_resume(struct thread *thread, const struct handler_frame *frame, struct place place) {
    if (is_same(place, frame->place))
        return frame->interrupted;
    for (struct stream *stream = &thread->first; stream; stream = stream->next)
        if (waits_at(stream, place))
            return stream;
    return is_same_call(place, frame->place) ? frame->interrupted : current_of(thread);
}

static void resume(struct thread *thread, struct stream *stream, const struct handler_frame *frame) {
    if (stream == current_of(thread) && stream != frame->interrupted) {
        guard(thread, stream);
        return;
    }
    stream->frame = NULL;
    stream->parked = 0;
    if (stream != frame->interrupted)
        stream->below = NULL;
    switch_to(thread, stream, stream == frame->interrupted ? frame->room : stream->rest);
}

VISIBLE void __trackway_leave_handler(struct handler_frame *frame, const void *context) {
    uint64_t signals = block_signals();
    struct thread *thread = &__trackway_own;
    struct stream *interrupted = frame->interrupted;
    keep_room(current_of(thread));
    if (interrupted == &lost || interrupted->frame == frame) {
        struct stream *next = stream_to_resume(thread, frame, __trackway_place_of(context));
        resume(thread, next, frame);
        if (next != interrupted && interrupted != &lost && __trackway_is_on_alternate_stack(context, frame))
            park(thread, interrupted);
    } else
        // This process was forked by the handler, and what was interrupted would write to its parent's buffer.
        __trackway_detach();
    restore_signals(signals);
}

static void release(struct stream *stream) {
    __atomic_store_n(&((struct pooled_stream *)stream)->claimed, 0, __ATOMIC_RELEASE);
}

static void note_cut(struct stream *stream) {
    if (stream->slot)
        stream->slot->dropped++;
}

// The thread was cancelled asynchronously, and its clean-up went on with the published records.
static void note_cut_records(struct stream *stream) {
    note_cut(stream);
    unsigned char *end = stream->rest.limit + TRACKWAY_SLACK;
    for (unsigned char *byte = stream->rest.cursor; byte < end; byte++)
        *byte = 0; // so that nobody takes them for records of the next thread that has this buffer
}

static bool stands_record(const struct trackway_thread *room) {
    uint32_t id = 0;
    if (room->limit + TRACKWAY_SLACK - room->cursor >= (ptrdiff_t)sizeof id)
        __builtin_memcpy(&id, room->cursor, sizeof id);
    return id != 0;
}

// The thread was cancelled while it waited for a buffer. Since then it has recorded into scratch memory.
static void end_wait(struct stream *stream) {
    stream->busy = false;
    note_cut(stream);
}

// A glance, unlike is_published: setjmp may be called often.
VISIBLE void __trackway_came_back(void) {
    struct stream *stream = current_of(&__trackway_own);
    bool has_buffer = stream->records.buffer;
    if (has_buffer ? !stands_record(&__trackway_thread) : !stream->busy || stream == &lost)
        return;
    uint64_t signals = block_signals();
    keep_room(stream);
    if (has_buffer)
        note_cut_records(stream);
    else
        end_wait(stream);
    // The stream's registers that the thread remembers may have been in those records: a fresh buffer begins with none.
    __trackway_hand_over(&stream->records, stream->rest.cursor, 0);
    switch_to(&__trackway_own, stream, __trackway_no_room);
    restore_signals(signals);
}

void __trackway_end_streams(struct thread *thread) {
    keep_room(current_of(thread));
    struct stream *next;
    for (struct stream *stream = &thread->first; stream; stream = next) {
        next = stream->next;
        if (stream->frame)
            abandon(stream);
        else if (!is_published(stream))
            note_cut_records(stream);
        __trackway_hand_over(&stream->records, stream->rest.cursor, TRACKWAY_LAST);
        __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, TRACKWAY_LAST);
        stream->oracle_room = (struct room){NULL, NULL};
        if (stream != &thread->first)
            release(stream);
    }
    thread->first.next = NULL;
    switch_to(thread, &thread->first, __trackway_no_room);
}

void __trackway_forget_handlers(void) {
    for (struct pool *pool = &first_pool; pool; pool = pool->next)
        for (uint32_t i = 0; i < STREAMS_OF_POOL; i++)
            if (pool->streams[i].claimed)
                pool->streams[i] = (struct pooled_stream){.claimed = 0};
}
