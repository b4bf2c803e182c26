// Regions of interest in programs that record. A recorder may want some of them alone (--only-region): while a thread
// is in one, a window is open for all.
//
// Each thread keeps the regions that it is in, so that it may leave several at once. A thread that records says so in
// its stream whenever it enters or leaves one, and at the begin of each buffer: buffers stand alone.
#include "kernel.h"
#include "runtime.h"

// What a thread enters beyond them opens no window and isn't recorded. Thread-local memory is short in objects that are
// loaded later.
#define DEPTH_OF_THREAD 16

static THREAD_LOCAL struct {
    uint32_t depth; // may exceed DEPTH_OF_THREAD
    // Those that keep a window open, as bits; of this process and session: a child of fork doesn't close its parent's,
    // nor a later recorder's.
    uint32_t keeping;
    uint32_t pid;
    uint32_t session;
    const struct trackway_region *regions[DEPTH_OF_THREAD];
} open_regions;

// A star stands for any characters, a question mark for one.
static bool matches(const char *glob, const char *end, const char *name) {
    for (; glob < end; glob++, name++) {
        if (*glob == '*') {
            for (; *name; name++)
                if (matches(glob + 1, end, name))
                    return true;
            return matches(glob + 1, end, name);
        }
        if (!*name || (*glob != '?' && *glob != *name))
            return false;
    }
    return !*name;
}

// The globs of the ring, each ends with a line feed.
static bool is_wanted(const struct trackway_ring *ring, const char *name) {
    const char *glob = ring->only_regions;
    for (uint32_t i = 0; i < sizeof ring->only_regions && ring->only_regions[i]; i++)
        if (ring->only_regions[i] == '\n') {
            if (matches(glob, &ring->only_regions[i], name))
                return true;
            glob = &ring->only_regions[i + 1];
        }
    return false;
}

static void keep_window(uint32_t depth, uint32_t session) {
    if (open_regions.pid != __trackway_process.pid || open_regions.session != session)
        open_regions.keeping = 0;
    open_regions.pid = __trackway_process.pid;
    open_regions.session = session;
    open_regions.keeping |= UINT32_C(1) << depth;
    __trackway_watch_this_thread();
}

// ---- In the stream ----

// docs/format.md, section 2.1, operation 15.
struct __attribute__((packed)) region_record {
    uint32_t id;
    uint8_t depth;
    uint64_t name;
};

// A thread without room writes nothing: its next record asks for a buffer, which begins with all regions.
static void state_region(uint32_t depth) {
    uint32_t id = __trackway_region_record();
    unsigned char *at = __trackway_thread.cursor;
    if (!id || at >= __trackway_thread.limit)
        return;
    struct region_record *record = (struct region_record *)(void *)at;
    record->depth = (uint8_t)depth;
    record->name = depth ? open_regions.regions[depth - 1]->index : 0;
    // Whoever looks at the buffer meanwhile finds the record's end, or all of it.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    record->id = id;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __trackway_thread.cursor = at + sizeof *record;
}

void __trackway_state_regions(void) {
    for (uint32_t depth = 1; depth <= open_regions.depth && depth <= DEPTH_OF_THREAD; depth++)
        state_region(depth);
}

// ---- As windows ----

static void begin_region(uint32_t depth, const char *name) {
    const struct trackway_ring *page = __trackway_first_page();
    uint32_t session = TRACKWAY_NO_SESSION;
    if (page && page->only_regions[0] && is_wanted(page, name))
        session = __trackway_begin_window_of(name);
    if (session != TRACKWAY_NO_SESSION)
        keep_window(depth, session);
}

static void end_region(uint32_t depth) {
    uint32_t bit = UINT32_C(1) << depth;
    if (!(open_regions.keeping & bit))
        return;
    open_regions.keeping &= ~bit;
    __trackway_end_window_of(open_regions.pid, open_regions.session);
}

// ---- What the program says ----

static void leave_to(uint32_t depth) {
    if (depth >= open_regions.depth)
        return;
    bool is_known = depth < DEPTH_OF_THREAD;
    while (open_regions.depth > depth) {
        uint32_t last = --open_regions.depth;
        if (last < DEPTH_OF_THREAD)
            end_region(last);
    }
    if (is_known)
        state_region(depth);
}

// The depth at which the thread entered the region for the last time; none if it isn't in it.
static bool find_last(const char *name, uint32_t *depth) {
    uint32_t known = open_regions.depth < DEPTH_OF_THREAD ? open_regions.depth : DEPTH_OF_THREAD;
    while (known-- > 0)
        if (__trackway_is_same_name(open_regions.regions[known]->name, name)) {
            *depth = known;
            return true;
        }
    return false;
}

VISIBLE void __trackway_window_enter_region(const struct trackway_region *region) {
    uint32_t depth = open_regions.depth;
    if (depth >= DEPTH_OF_THREAD) {
        open_regions.depth++;
        return;
    }
    // A signal handler may enter and leave regions at any time here: it finds no former name, and leaves ours.
    open_regions.regions[depth] = region;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    open_regions.depth = depth + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    open_regions.regions[depth] = region;
    begin_region(depth, region->name);
    state_region(depth + 1);
}

VISIBLE void __trackway_window_leave_region(const struct trackway_region *region) {
    uint32_t depth;
    if (open_regions.depth > DEPTH_OF_THREAD)
        open_regions.depth--;
    else if (find_last(region->name, &depth))
        leave_to(depth);
}

// The compiled code tells a guard's marks from others.
VISIBLE void __trackway_window_enter_scope(const struct trackway_region *region) {
    __trackway_window_enter_region(region);
}
VISIBLE void __trackway_window_leave_scope(const struct trackway_region *region) {
    __trackway_window_leave_region(region);
}

VISIBLE uint32_t __trackway_window_region_depth(void) { return open_regions.depth; }

// Around setjmp; longjmp leaves what was entered since.
VISIBLE void __trackway_window_keep_depth(uint32_t *place) { *place = open_regions.depth; }
VISIBLE void __trackway_window_leave_since(const uint32_t *place) { leave_to(*place); }

// pthread_exit and cancellation run no code of the functions that they leave.
void __trackway_end_thread_regions(void) { leave_to(0); }

VISIBLE void __trackway_window_leave_regions(uint32_t depth, const struct trackway_region *but) {
    uint32_t last;
    if (but && find_last(but->name, &last) && last >= depth)
        depth = last + 1;
    leave_to(depth);
}
