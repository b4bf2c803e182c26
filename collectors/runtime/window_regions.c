// Regions of interest that a recorder records (--only-region): while a thread is in one, a window is open for all.
//
// The program reports its regions to nobody as long as no recorder wants any. Each thread keeps those that it is in, so
// that it may leave several at once.
#include "kernel.h"
#include "runtime.h"

// What a thread enters beyond them opens no window. Thread-local memory is short in objects that are loaded later.
#define DEPTH_OF_THREAD 16

static THREAD_LOCAL struct {
    uint32_t depth; // may exceed DEPTH_OF_THREAD
    // Those that keep a window open, as bits; of this process and session: a child of fork doesn't close its parent's,
    // nor a later recorder's.
    uint32_t keeping;
    uint32_t pid;
    uint32_t session;
    const char *names[DEPTH_OF_THREAD];
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
}

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

static void leave_to(uint32_t depth) {
    while (open_regions.depth > depth) {
        uint32_t last = --open_regions.depth;
        if (last < DEPTH_OF_THREAD)
            end_region(last);
    }
}

// The depth at which the thread entered the region for the last time; none if it isn't in it.
static bool find_last(const char *name, uint32_t *depth) {
    uint32_t known = open_regions.depth < DEPTH_OF_THREAD ? open_regions.depth : DEPTH_OF_THREAD;
    while (known-- > 0)
        if (__trackway_is_same_name(open_regions.names[known], name)) {
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
    open_regions.names[depth] = region->name;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    open_regions.depth = depth + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    open_regions.names[depth] = region->name;
    begin_region(depth, region->name);
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

VISIBLE void __trackway_window_leave_regions(uint32_t depth, const struct trackway_region *but) {
    uint32_t last;
    if (but && find_last(but->name, &last) && last >= depth)
        depth = last + 1;
    leave_to(depth);
}
