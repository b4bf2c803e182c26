// Windows: recording is switched on and off while the program runs, by the recorder or by the program itself. A thread
// notices that at its next call of a function, and gives each window buffers of its own.
#include "kernel.h"
#include "ring_name.h"
#include "runtime.h"

VISIBLE THREAD_LOCAL uint32_t __trackway_recorded_window;

static uint32_t open_window(const struct trackway_ring *ring) {
    return __atomic_load_n(&ring->window, __ATOMIC_RELAXED);
}

uint32_t __trackway_follow_window(void) {
    __trackway_recorded_window = open_window(__trackway_process.ring);
    return __trackway_recorded_window;
}

static uint32_t join_window(void) {
    if (!__trackway_process.ring)
        return 0;
    if (open_window(__trackway_process.ring) != __trackway_recorded_window)
        __trackway_leave_buffer();
    return __trackway_follow_window();
}

VISIBLE uint32_t __trackway_join_window(void) {
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    uint32_t joined = join_window();
    restore_signals(signals);
    return joined;
}

static void copy_text(struct trackway_mark *mark, const char *text) {
    size_t length = 0;
    for (; text && text[length] && length < sizeof mark->text; length++)
        mark->text[length] = text[length];
    if (length < sizeof mark->text)
        mark->text[length] = 0;
}

static void note(struct trackway_ring *ring, uint32_t kind, uint32_t window, const char *text) {
    uint32_t number = __atomic_fetch_add(&ring->marks, 1, __ATOMIC_RELAXED);
    struct trackway_mark *table = (struct trackway_mark *)(void *)((unsigned char *)ring + ring->mark_offset);
    struct trackway_mark *mark = &table[number % TRACKWAY_MARKS];
    __atomic_store_n(&mark->ready, 0, __ATOMIC_RELEASE);
    mark->kind = kind;
    mark->window = window;
    mark->cause = TRACKWAY_BY_PROGRAM;
    mark->pid = __trackway_process.pid;
    mark->tid = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0);
    mark->ticks = __trackway_now_ticks();
    mark->flags = TICKS_ARE_NANOSECONDS ? TRACKWAY_MONOTONIC : 0;
    copy_text(mark, text);
    __atomic_store_n(&mark->ready, number + 1, __ATOMIC_RELEASE);
}

static void open_new(struct trackway_ring *ring) {
    uint32_t none = 0, number = __atomic_add_fetch(&ring->windows, 1, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&ring->window, &none, number, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        note(ring, TRACKWAY_OPENS, number, NULL);
}

// The ring, if the program may switch its windows.
static struct trackway_ring *switchable_ring(void) {
    struct trackway_ring *ring = __trackway_process.ring;
    return ring && !(ring->flags & TRACKWAY_KEEPS_NEWEST) ? ring : NULL;
}

VISIBLE void __trackway_open_window(void) {
    struct trackway_ring *ring = switchable_ring();
    if (!ring)
        return;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    if (!open_window(ring))
        open_new(ring);
    join_window();
    restore_signals(signals);
}

VISIBLE void __trackway_close_window(void) {
    struct trackway_ring *ring = switchable_ring();
    uint32_t open = ring ? open_window(ring) : 0;
    if (!open)
        return;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    __atomic_store_n(&ring->closed_ticks[open % TRACKWAY_CLOSINGS], __trackway_now_ticks(), __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&ring->window, &open, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        note(ring, TRACKWAY_CLOSES, open, NULL);
    join_window();
    restore_signals(signals);
}

static void note_text(uint32_t kind, const char *text) {
    struct trackway_ring *ring = __trackway_process.ring;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    note(ring, kind, open_window(ring), text);
    restore_signals(signals);
}

VISIBLE void __trackway_mark(const char *text) {
    if (__trackway_process.ring)
        note_text(TRACKWAY_TEXT, text);
}

VISIBLE void __trackway_snapshot(void) {
    if (__trackway_process.ring)
        note_text(TRACKWAY_SNAPSHOT, "the program asked for it");
}

VISIBLE void __trackway_slow(uint64_t ns) {
    struct trackway_ring *ring = __trackway_process.ring;
    if (!ring || ring->slow_us == 0 || ns / 1000 < ring->slow_us)
        return;
    struct text text = {.length = 0};
    append(&text, "the program took ");
    append_number(&text, ns / 1000);
    append(&text, " us");
    note_text(TRACKWAY_SNAPSHOT, text.bytes);
}
