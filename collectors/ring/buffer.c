// The program's side of the ring: taking buffers and handing them over.
#include "kernel.h"
#include "ring.h"

#include <time.h>

#define SCRATCH_SIZE (64 << 10)
#define MAX_SEGMENT_ID (UINT32_C(1) << 24)

// Memory for records that will never be read. Threads share it: what they write there means nothing.
static unsigned char scratch[SCRATCH_SIZE] __attribute__((aligned(64)));

struct room __trackway_scratch(void) { return (struct room){scratch, scratch + SCRATCH_SIZE}; }

#if defined(__x86_64__)

// The clock in which the pass stamps what threads synchronise by, too. A stamp is taken after all that stands before
// it in the program.
uint64_t __trackway_now_ticks(void) {
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
}

#else // the pass stamps nothing here, and the recorder may run on another processor, beside an emulator

uint64_t __trackway_now_ticks(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif

static struct trackway_buffer *buffer_table(const struct trackway_ring *ring) {
    return (struct trackway_buffer *)((unsigned char *)ring + ring->buffer_table_offset);
}

static unsigned char *data_of(const struct trackway_buffer *buffer) {
    return __trackway_data((uint32_t)(buffer - buffer_table(__trackway_process.ring)));
}

static unsigned char *data_of_lane(const struct lane *lane) { return lane->low ? lane->low : data_of(lane->buffer); }

bool __trackway_holds(const struct lane *lane, const unsigned char *cursor) {
    return lane->buffer && (size_t)(cursor - data_of_lane(lane)) <= __trackway_process.ring->buffer_size;
}

bool __trackway_takes_records(const struct trackway_ring *ring) {
    uint32_t thread = __atomic_load_n(&ring->recorder_thread, __ATOMIC_RELAXED);
    bool alive = thread != 0 && !(thread & TRACKWAY_RECORDER_DIED);
    return alive && !__atomic_load_n(&ring->stopped, __ATOMIC_RELAXED);
}

static bool change_state(struct trackway_buffer *buffer, uint32_t from, uint32_t to) {
    return __atomic_load_n(&buffer->state, __ATOMIC_RELAXED) == from &&
           __atomic_compare_exchange_n(&buffer->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void note_use(struct trackway_ring *ring, uint32_t used) {
    uint32_t known = __atomic_load_n(&ring->buffers_used, __ATOMIC_RELAXED);
    while (known < used &&
           !__atomic_compare_exchange_n(&ring->buffers_used, &known, used, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

// The first free buffer: the one most likely to be in a cache still.
static struct trackway_buffer *own_free_buffer(struct trackway_ring *ring) {
    if (__atomic_load_n(&ring->full_count, __ATOMIC_RELAXED) >= ring->full_limit)
        return NULL;
    struct trackway_buffer *table = buffer_table(ring);
    for (uint32_t i = 0; i < ring->buffer_count; i++)
        if (change_state(&table[i], TRACKWAY_FREE, TRACKWAY_OWNED)) {
            note_use(ring, i + 1);
            return &table[i];
        }
    return NULL;
}

void __trackway_wake_recorder(struct trackway_ring *ring) {
    if (__atomic_exchange_n(&ring->wake_at, 0, __ATOMIC_RELAXED))
        futex_wake(&ring->full_events);
}

// The recorder may take long, and the user may want to end the program meanwhile. Handlers run as anywhere else; what
// is sent before a stream has begun is not blocked.
static void let_signals_in(const struct stream *stream) {
    if (!stream->begun)
        return;
    restore_signals(stream->signals);
    block_signals();
}

static void complain_once(const char *message) {
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain(message);
}

// None if the buffer, which was just taken, can't be mapped; then others may have it.
static struct trackway_buffer *mapped(struct trackway_buffer *buffer) {
    if (data_of(buffer))
        return buffer;
    __atomic_store_n(&buffer->state, TRACKWAY_FREE, __ATOMIC_RELEASE);
    complain_once("cannot map more of the recorder's memory (is `ulimit -v` set?): what further threads do is not "
                  "recorded");
    return NULL;
}

// Returns none if the recorder ended, and where waiting is no use: each buffer belongs to a thread that has not filled
// it.
static struct trackway_buffer *wait_for_buffer(struct trackway_ring *ring, const struct stream *stream, bool may_drop) {
    static bool all_were_owned;
    bool has_waited = __atomic_load_n(&all_were_owned, __ATOMIC_RELAXED);
    for (;; has_waited = true) {
        uint32_t seen = __atomic_load_n(&ring->free_events, __ATOMIC_SEQ_CST);
        if (!__trackway_takes_records(ring))
            return NULL;
        bool none_is_full = __atomic_load_n(&ring->full_count, __ATOMIC_SEQ_CST) == 0;
        struct trackway_buffer *buffer = own_free_buffer(ring);
        if (buffer)
            return mapped(buffer);
        if (may_drop)
            return NULL;
        if (none_is_full && has_waited) {
            __atomic_store_n(&all_were_owned, true, __ATOMIC_RELAXED);
            complain_once("more threads, handlers and processes record at once than there are buffers: what further "
                          "ones do is not recorded");
            return NULL;
        }
        let_signals_in(stream);
        __trackway_wake_recorder(ring);
        __atomic_fetch_add(&ring->free_waiters, 1, __ATOMIC_SEQ_CST);
        uint64_t begun = monotonic_ns();
        futex_wait(&ring->free_events, seen, 1); // not for ever: the recorder may be killed, signals may come
        __atomic_fetch_add(&ring->waited_ns, monotonic_ns() - begun, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&ring->free_waiters, 1, __ATOMIC_SEQ_CST);
    }
}

// What was recorded in a window that has closed meanwhile ended with it: the thread may have done other things since.
static uint64_t last_ticks(const struct lane *lane) {
    struct trackway_ring *ring = __trackway_process.ring;
    uint64_t now = __trackway_now_ticks();
    if (lane->window == 0 || lane->window == __atomic_load_n(&ring->window, __ATOMIC_RELAXED))
        return now;
    uint64_t closed = __atomic_load_n(&ring->closed_ticks[lane->window % TRACKWAY_CLOSINGS], __ATOMIC_RELAXED);
    return closed > lane->buffer->first_ticks && closed < now ? closed : now;
}

static uint32_t flags_of(uint32_t session) {
    return session << TRACKWAY_SESSION_SHIFT | (TICKS_ARE_NANOSECONDS ? TRACKWAY_MONOTONIC : 0);
}

static void describe(struct trackway_buffer *buffer, struct lane *lane, const struct stream *stream) {
    const struct process *owner = lane->owner ? lane->owner : &__trackway_process;
    buffer->kind = lane->kind;
    buffer->stream = lane->stream;
    buffer->tid = stream->tid;
    buffer->flags = flags_of(stream->session);
    buffer->sequence = lane->sequence++;
    buffer->first_ticks = __trackway_now_ticks();
    buffer->last_ticks = 0;
    buffer->length = 0;
    buffer->dropped_before = lane->dropped;
    buffer->parent_pid = owner->parent_pid;
    buffer->image = owner->image;
    __atomic_store_n(&buffer->pid, owner->pid, __ATOMIC_RELEASE);
    lane->dropped = 0;
    lane->window = __atomic_load_n(&__trackway_process.ring->window, __ATOMIC_RELAXED);
}

struct room __trackway_take(struct lane *lane, struct stream *stream) {
    struct trackway_ring *ring = __trackway_process.ring;
    bool may_drop = (ring->flags & TRACKWAY_DROP_WHEN_FULL) && !lane->must_wait;
    lane->buffer = wait_for_buffer(ring, stream, may_drop);
    if (!lane->buffer) {
        lane->dropped++;
        // The slot may be a stream's of a later session by now.
        if (stream->slot && stream->session == __atomic_load_n(&ring->session, __ATOMIC_ACQUIRE))
            stream->slot->dropped++;
        return __trackway_scratch();
    }
    describe(lane->buffer, lane, stream);
    if (stream->below && lane == &stream->records)
        lane->low = __trackway_map_low((uint32_t)(lane->buffer - buffer_table(ring)), stream->below);
    unsigned char *data = data_of_lane(lane);
    return (struct room){data, data + ring->buffer_size};
}

static void publish(struct trackway_ring *ring, struct trackway_buffer *buffer) {
    __atomic_fetch_add(&ring->full_count, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&buffer->state, TRACKWAY_FULL, __ATOMIC_RELEASE);
    uint32_t events = __atomic_add_fetch(&ring->full_events, 1, __ATOMIC_SEQ_CST);
    uint32_t wake_at = __atomic_load_n(&ring->wake_at, __ATOMIC_SEQ_CST);
    if (wake_at && (int32_t)(events - wake_at) >= 0)
        __trackway_wake_recorder(ring);
}

void __trackway_hand_over(struct lane *lane, const unsigned char *end, uint32_t flags) {
    struct trackway_buffer *buffer = lane->buffer;
    if (!buffer)
        return;
    buffer->length = end ? (uint32_t)(end - data_of_lane(lane)) : 0;
    buffer->last_ticks = last_ticks(lane);
    buffer->flags = flags | flags_of(buffer->flags >> TRACKWAY_SESSION_SHIFT);
    lane->buffer = NULL;
    if (lane->low)
        __trackway_unmap_low(lane->low);
    lane->low = NULL;
    publish(__trackway_process.ring, buffer);
}

bool __trackway_claim(struct lane *lane) {
    struct trackway_buffer *buffer = lane->buffer;
    // A buffer that the recorder has taken is free, or another thread's, by now.
    bool is_ours = buffer && __atomic_load_n(&buffer->pid, __ATOMIC_ACQUIRE) != 0 && buffer->stream == lane->stream &&
                   buffer->kind == lane->kind && change_state(buffer, TRACKWAY_OWNED, TRACKWAY_CLAIMED);
    if (!is_ours)
        lane->buffer = NULL;
    return is_ours;
}

uint32_t __trackway_take_ids(struct trackway_ring *ring, uint32_t count) {
    uint32_t first = __atomic_load_n(&ring->next_segment_id, __ATOMIC_RELAXED);
    do {
        if (first > MAX_SEGMENT_ID || count > MAX_SEGMENT_ID - first)
            return 0;
    } while (!__atomic_compare_exchange_n(&ring->next_segment_id, &first, first + count, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return first;
}

// After exec, buffers of the former image are still marked as owned by this process.
void __trackway_abandon_former_image(void) {
    struct trackway_ring *ring = __trackway_process.ring;
    struct trackway_buffer *table = buffer_table(ring);
    for (uint32_t i = 0; i < ring->buffers_used; i++) {
        struct trackway_buffer *buffer = &table[i];
        bool former = __atomic_load_n(&buffer->state, __ATOMIC_ACQUIRE) == TRACKWAY_OWNED &&
                      __atomic_load_n(&buffer->pid, __ATOMIC_ACQUIRE) == __trackway_process.pid &&
                      buffer->image != __trackway_process.image;
        if (former && change_state(buffer, TRACKWAY_OWNED, TRACKWAY_CLAIMED)) {
            buffer->flags |= TRACKWAY_ABANDONED;
            publish(ring, buffer);
        }
    }
}
