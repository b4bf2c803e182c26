// Windows: recording is switched on and off while the program runs, by the recorder or by the program itself. A thread
// notices that at its next call of a function, and gives each window buffers of its own.
#include "kernel.h"
#include "ring_name.h"
#include "runtime.h"

VISIBLE THREAD_LOCAL uint32_t __trackway_recorded_window;

// Before the session is looked at: a window of a later one may open at any time.
static uint32_t open_window(const struct trackway_ring *ring) {
    return __atomic_load_n(&ring->window, __ATOMIC_ACQUIRE);
}

struct trackway_ring *__trackway_first_page(void) {
    return __trackway_process.dormant ? __trackway_process.dormant : __trackway_process.ring;
}

// The number of the window that this process records now, or 0.
static uint32_t recorded_window(struct trackway_ring *page) {
    uint32_t window = open_window(page);
    if (!window || __trackway_in_session())
        return window;
    // Its recorder was killed: nobody else would close it, and functions would ask each time.
    if (!__trackway_takes_records(page)) {
        __atomic_store_n(&page->regions_switch, 0, __ATOMIC_RELAXED);
        __atomic_compare_exchange_n(&page->window, &window, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return 0;
}

uint32_t __trackway_follow_window(void) {
    struct trackway_ring *page = __trackway_first_page();
    __trackway_recorded_window = page ? recorded_window(page) : 0;
    return __trackway_recorded_window;
}

static uint32_t join_window(void) {
    struct trackway_ring *page = __trackway_first_page();
    if (page && open_window(page) != __trackway_recorded_window)
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

static void note(struct trackway_ring *ring, uint32_t kind, uint32_t window, uint32_t cause, const char *text) {
    uint32_t number = __atomic_fetch_add(&ring->marks, 1, __ATOMIC_RELAXED);
    struct trackway_mark *table = (struct trackway_mark *)(void *)((unsigned char *)ring + ring->mark_offset);
    struct trackway_mark *mark = &table[number % TRACKWAY_MARKS];
    __atomic_store_n(&mark->ready, 0, __ATOMIC_RELEASE);
    mark->kind = kind;
    mark->window = window;
    mark->cause = cause;
    mark->pid = __trackway_process.pid;
    mark->tid = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0);
    mark->ticks = __trackway_now_ticks();
    mark->flags = TICKS_ARE_NANOSECONDS ? TRACKWAY_MONOTONIC : 0;
    copy_text(mark, text);
    __atomic_store_n(&mark->ready, number + 1, __ATOMIC_RELEASE);
    if ((number + 1) % (TRACKWAY_MARKS / 4) == 0)
        __trackway_wake_recorder(ring);
}

static void open_new(struct trackway_ring *ring, uint32_t cause, const char *text) {
    uint32_t none = 0, number = __atomic_add_fetch(&ring->windows, 1, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&ring->window, &none, number, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        note(ring, TRACKWAY_OPENS, number, cause, text);
}

// Whether anybody wants to know what the program asks for, at a glance.
static bool has_recorder(void) {
    const struct trackway_ring *page = __trackway_first_page();
    return page && __trackway_takes_records(page);
}

// Whether the program switches windows. Signals are blocked.
static bool is_switchable(void) {
    return __trackway_in_session() && !(__trackway_process.ring->flags & TRACKWAY_KEEPS_NEWEST);
}

VISIBLE void __trackway_open_window(void) {
    if (!has_recorder())
        return;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    if (is_switchable()) {
        if (!open_window(__trackway_process.ring))
            open_new(__trackway_process.ring, TRACKWAY_BY_PROGRAM, NULL);
        join_window();
    }
    restore_signals(signals);
}

static void close_window(struct trackway_ring *ring, uint32_t cause) {
    uint32_t open = open_window(ring);
    if (!open)
        return;
    __atomic_store_n(&ring->closed_ticks[open % TRACKWAY_CLOSINGS], __trackway_now_ticks(), __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&ring->window, &open, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        note(ring, TRACKWAY_CLOSES, open, cause, NULL);
    join_window();
}

VISIBLE void __trackway_close_window(void) {
    if (!has_recorder())
        return;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    if (is_switchable())
        close_window(__trackway_process.ring, TRACKWAY_BY_PROGRAM);
    restore_signals(signals);
}

// ---- By regions ----

uint32_t __trackway_begin_window_of(const char *region) {
    uint32_t session = TRACKWAY_NO_SESSION;
    if (!has_recorder()) {
        __atomic_store_n(&__trackway_first_page()->regions_switch, 0, __ATOMIC_RELAXED); // it was killed
        return session;
    }
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    if (is_switchable()) {
        struct trackway_ring *ring = __trackway_process.ring;
        session = __atomic_load_n(&ring->session, __ATOMIC_ACQUIRE);
        __trackway_hold_regions(ring);
        if (!open_window(ring))
            open_new(ring, TRACKWAY_BY_REGION, region);
        join_window();
    }
    restore_signals(signals);
    return session;
}

// What somebody else has opened since regions open no windows any more stays open.
static void close_window_of_regions(struct trackway_ring *ring) {
    if (__atomic_load_n(&ring->regions_switch, __ATOMIC_RELAXED))
        close_window(ring, TRACKWAY_BY_REGION);
}

void __trackway_end_window_of(uint32_t pid, uint32_t session) {
    if (!has_recorder())
        return;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    struct trackway_ring *ring = __trackway_process.ring;
    bool is_ours = is_switchable() && pid == __trackway_process.pid &&
                   session == __atomic_load_n(&ring->session, __ATOMIC_ACQUIRE);
    if (is_ours)
        __trackway_let_go_of_region(ring, close_window_of_regions);
    restore_signals(signals);
}

void __trackway_leave_former_regions(void) {
    uint64_t signals = block_signals();
    __trackway_let_go_of_former_image(__trackway_process.ring, close_window_of_regions);
    restore_signals(signals);
}

// ---- Marks ----

static void note_text(uint32_t kind, const char *text) {
    if (!has_recorder())
        return;
    uint64_t signals = block_signals();
    __trackway_notice_fork();
    if (__trackway_in_session())
        note(__trackway_process.ring, kind, open_window(__trackway_process.ring), TRACKWAY_BY_PROGRAM, text);
    restore_signals(signals);
}

VISIBLE void __trackway_mark(const char *text) { note_text(TRACKWAY_TEXT, text); }

VISIBLE void __trackway_snapshot(void) { note_text(TRACKWAY_SNAPSHOT, "the program asked for it"); }

VISIBLE void __trackway_slow(uint64_t ns) {
    const struct trackway_ring *page = __trackway_first_page();
    if (!page || page->slow_us == 0 || ns / 1000 < page->slow_us)
        return;
    struct text text = {.length = 0};
    append(&text, "the program took ");
    append_number(&text, ns / 1000);
    append(&text, " us");
    note_text(TRACKWAY_SNAPSHOT, text.bytes);
}
