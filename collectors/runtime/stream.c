// A thread's stream: where it begins, goes on in a fresh buffer, and ends.
#include "kernel.h"
#include "runtime.h"

#include <errno.h>
#include <pthread.h>

// Destructors of other thread-specific data may record too. So ours lets them go first, several times.
#define LAST_ROUND 3

VISIBLE THREAD_LOCAL struct trackway_thread __trackway_thread;
THREAD_LOCAL struct thread __trackway_own;
static pthread_key_t end_of_thread;
static bool has_key;

// Code that goes on without a buffer remembers what nobody decodes.
static struct trackway_cells unread_cells;
const struct trackway_thread __trackway_no_room = {.cells = &unread_cells};

static void set_thread_room(struct room room) {
    __trackway_thread = __trackway_no_room;
    if (!room.begin)
        return;
    struct trackway_cells *cells = (struct trackway_cells *)(void *)(room.end - TRACKWAY_CELL_BYTES);
    __trackway_thread = (struct trackway_thread){room.begin, (unsigned char *)cells - TRACKWAY_SLACK, cells};
}

static struct stream *current_stream(void) {
    struct stream *current = __trackway_own.current;
    return current ? current : &__trackway_own.first;
}

static void watch_end(uintptr_t round) {
    __trackway_own.watches_end = has_key && pthread_setspecific(end_of_thread, (void *)round) == 0;
}

void __trackway_watch_this_thread(void) {
    if (!__trackway_own.watches_end)
        watch_end(LAST_ROUND);
}

static struct trackway_stream *slot_of(struct trackway_ring *ring, uint32_t number) {
    if (number >= ring->stream_count)
        return NULL;
    return (struct trackway_stream *)((unsigned char *)ring + ring->stream_table_offset) + number;
}

static void state_stack(struct trackway_ring *ring, uint32_t number) {
    uint32_t offset = __atomic_load_n(&ring->stack_offset, __ATOMIC_RELAXED);
    if (offset && number < ring->stream_count)
        ((uint64_t *)(void *)((unsigned char *)ring + offset))[number] =
            (uint64_t)(uintptr_t)__builtin_frame_address(0);
}

static void begin_stream(struct stream *stream) {
    struct trackway_ring *ring = __trackway_process.ring;
    __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, 0); // of a former session
    stream->oracle_room = (struct room){NULL, NULL};
    // First: should another recorder come just now, the number is one of its, but the buffers are the former one's.
    stream->session = __atomic_load_n(&__trackway_process.session, __ATOMIC_ACQUIRE);
    uint32_t number = __atomic_fetch_add(&ring->next_stream, 1, __ATOMIC_ACQ_REL);
    stream->tid = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0);
    stream->records = (struct lane){.kind = TRACKWAY_RECORDS, .stream = number};
    stream->oracle = (struct lane){.kind = TRACKWAY_ORACLE_RECORDS, .stream = number};
    stream->dumps_oracle = ring->flags & TRACKWAY_DUMP_ORACLE;
    stream->slot = slot_of(ring, number);
    state_stack(ring, number);
    if (stream->slot) {
        stream->slot->image = __trackway_process.image;
        __atomic_store_n(&stream->slot->pid, __trackway_process.pid, __ATOMIC_RELEASE);
    }
    if (!__trackway_own.watches_end)
        watch_end(1);
    stream->begun = true;
}

static bool is_begun(const struct stream *stream) {
    return stream->begun && stream->session == __trackway_process.session;
}

struct stream *__trackway_this_stream(void) {
    struct stream *stream = current_stream();
    if (is_begun(stream) || stream->busy)
        return stream;
    int saved_errno = errno;
    uint64_t signals = block_signals();
    // Code with a buffer of a former session hasn't joined this one.
    bool is_recorded = __trackway_in_session() && !stream->records.buffer;
    if (is_recorded)
        begin_stream(stream);
    restore_signals(signals);
    errno = saved_errno;
    return is_recorded ? stream : NULL;
}

// Called for each full buffer, so it may be slow; but it interrupts the program anywhere, so it leaves no trace there.
VISIBLE unsigned char *__trackway_next_buffer(unsigned char *cursor) {
    if (cursor < __trackway_thread.limit)
        return cursor;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    struct stream *stream = current_stream();
    // The program may bring its own clock_gettime and the like, and record in it.
    set_thread_room(__trackway_scratch());
    if (!stream->busy) {
        int saved_errno = errno;
        if (stream->below)
            __trackway_leave_stale(stream, cursor);
        stream->busy = true;
        stream->signals = signals;
        __trackway_hand_over(&stream->records, cursor, 0);
        stream->outside = __trackway_follow_window() == 0;
        if (!stream->outside) {
            if (!is_begun(stream))
                begin_stream(stream);
            __trackway_watch_this_thread();
            set_thread_room(__trackway_take(&stream->records, stream));
            __trackway_state_regions();
        }
        stream->busy = false;
        errno = saved_errno;
    }
    unsigned char *fresh = __trackway_thread.cursor; // a handler that comes now may leave none
    restore_signals(signals);
    return fresh;
}

void __trackway_leave_buffer(void) {
    struct stream *stream = current_stream();
    if (stream->busy)
        return; // it waits for a buffer, and takes it for the window that is open then
    __trackway_hand_over(&stream->records, __trackway_thread.cursor, 0);
    set_thread_room((struct room){NULL, NULL});
}

VISIBLE void __trackway_oracle_flush(struct stream *stream) {
    int saved_errno = errno;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    stream->signals = signals;
    __trackway_hand_over(&stream->oracle, stream->oracle_room.begin, 0);
    stream->oracle_room = (struct room){NULL, NULL}; // the thread may be cancelled while it waits
    stream->oracle_room = __trackway_take(&stream->oracle, stream);
    restore_signals(signals);
    errno = saved_errno;
}

static void end_thread(void *round) {
    __trackway_came_back();
    if ((uintptr_t)round < LAST_ROUND) {
        watch_end((uintptr_t)round + 1);
        return;
    }
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    __trackway_own.watches_end = false;
    __trackway_end_thread_regions();
    __trackway_end_counting();
    __trackway_end_streams(&__trackway_own);
    restore_signals(signals);
}

// Should the parent end before the child runs, the recorder still knows that there is one. No handler must run in the
// child before it has streams of its own.
static void prepare_fork(void) {
    __trackway_own.signals = block_signals();
    __trackway_own.is_counted_fork = __trackway_process.ring != NULL;
    if (__trackway_own.is_counted_fork)
        __atomic_fetch_add(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELAXED);
}

static void finish_fork(void) { restore_signals(__trackway_own.signals); }

// The buffers stay the parent's; what the child records is another stream.
static void become_child(void) {
    *__trackway_process.witness = 1;
    __trackway_process.parent_pid = __trackway_process.pid;
    __trackway_process.pid = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0);
    __trackway_unlock_modules(); // another thread of the parent may have held it
    if (!__trackway_process.ring)
        return; // nobody ever recorded it
    set_thread_room((struct room){NULL, NULL});
    __trackway_own = (struct thread){.watches_end = __trackway_own.watches_end};
    __trackway_forget_handlers();
    __trackway_forget_low();
    begin_stream(&__trackway_own.first);
    __trackway_count_as_child();
}

void __trackway_notice_fork(void) {
    if (__trackway_process.witness && *__trackway_process.witness == 0)
        become_child();
}

static void begin_child(void) {
    uint64_t signals = __trackway_own.signals;
    bool is_counted = __trackway_own.is_counted_fork;
    become_child();
    if (is_counted)
        __atomic_fetch_sub(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELEASE);
    restore_signals(signals);
}

void __trackway_watch_threads(void) {
    // Without a key the recorder itself finds the buffers of ended threads, only later.
    has_key = pthread_key_create(&end_of_thread, end_thread) == 0;
    if (pthread_atfork(prepare_fork, finish_fork, begin_child) != 0)
        __trackway_complain("no memory to watch for forks; the records of forked processes may be damaged");
}

// The process ends, or a shared object with a runtime of its own is unloaded while its threads live; their ends come
// without us then.
__attribute__((destructor)) static void forget_threads(void) {
    struct trackway_buffer *buffer = __trackway_own.first.records.buffer;
    if (buffer)
        buffer->flags |= TRACKWAY_ENDING;
    if (has_key)
        pthread_key_delete(end_of_thread);
    has_key = false;
}
