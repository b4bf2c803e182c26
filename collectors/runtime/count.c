// Counting: a thread has a node for each region within another that it enters, whose counters the compiled code adds
// to.
#include "kernel.h"
#include "runtime.h"

#include <errno.h>
#include <sys/mman.h>

#define NODES_OF_THREAD 1024
// Regions that a thread may be in at once. What it enters beyond them counts for the last of these.
#define DEPTH_OF_THREAD 256

struct node {
    struct lane lane;
    struct trackway_counts *counts;
    const char *name; // as the program gave it; equal names of two units may be two texts
    uint32_t parent;
    uint32_t first_child; // 0: none
    uint32_t next_sibling;
};

// A region that the thread is in.
struct stay {
    uint32_t outer;   // the node in which it was entered
    bool is_repeated; // it was in this region already: neither an entry nor time of its own
};

struct tally {
    uint32_t node_count;
    uint32_t current;
    uint32_t depth; // may exceed DEPTH_OF_THREAD
    bool busy;      // a signal handler that comes now must not touch this
    struct stay stays[DEPTH_OF_THREAD];
    struct node nodes[NODES_OF_THREAD];
};

VISIBLE THREAD_LOCAL struct trackway_counting __trackway_counting;
static THREAD_LOCAL struct tally *own_tally;

// Shared by all images of this process that fork left alike.
static uint64_t counters_placed;
static bool program_has_regions;

// Counters that nobody reads, for threads that find no buffer.
static uint64_t *unread_counters(void) {
    static uint64_t *unread;
    uint64_t *present = __atomic_load_n(&unread, __ATOMIC_ACQUIRE);
    if (present)
        return present;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint64_t *made = mmap(NULL, __trackway_process.ring->buffer_size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (made == MAP_FAILED)
        __builtin_trap();
    if (__atomic_compare_exchange_n(&unread, &present, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, __trackway_process.ring->buffer_size);
    return present;
}

static uint64_t capacity(const struct trackway_ring *ring) {
    return (ring->buffer_size - sizeof(struct trackway_counts)) / sizeof(uint64_t);
}

bool __trackway_place_counters(struct trackway_module *module) {
    uint64_t first = __atomic_load_n(&counters_placed, __ATOMIC_RELAXED);
    do {
        if (module->counter_count > capacity(__trackway_process.ring) - first)
            return false;
    } while (!__atomic_compare_exchange_n(&counters_placed, &first, first + module->counter_count, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    module->counter_offset = first * sizeof(uint64_t);
    if (module->has_regions)
        __atomic_store_n(&program_has_regions, true, __ATOMIC_RELAXED);
    return true;
}

// ---- Nodes ----

static bool is_counted(const struct node *node) {
    return node->counts && (node->counts->flags & (TRACKWAY_ENTRY_IS_COUNTED | TRACKWAY_WHOLE_PROGRAM));
}

static void go_to(struct tally *tally, uint32_t index) {
    tally->current = index;
    bool counted = is_counted(&tally->nodes[index]);
    const struct node *node = &tally->nodes[counted ? index : 0];
    __trackway_counting.counters = node->counts ? (uint64_t)(node->counts + 1) : (uint64_t)unread_counters();
    __trackway_counting.state = counted ? TRACKWAY_COUNTS_NOW : TRACKWAY_COUNTS_NOT;
}

static void copy_name(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size - 1 && from[i]; i++)
        to[i] = from[i];
}

// Without a free buffer the node stands for what isn't counted; the stream notes the loss.
static uint32_t add_node(struct tally *tally, struct stream *stream, const char *name) {
    uint32_t index = tally->node_count++;
    struct node *node = &tally->nodes[index];
    *node = (struct node){.lane = stream->records, .name = name, .parent = tally->current};
    node->lane = (struct lane){
        .kind = TRACKWAY_COUNTS, .stream = stream->records.stream, .sequence = stream->next_node++, .must_wait = true};
    struct room room = __trackway_take(&node->lane, stream);
    if (!node->lane.buffer)
        return index;
    node->counts = (struct trackway_counts *)room.begin;
    node->counts->parent = tally->current;
    node->counts->thread = stream->tid;
    node->counts->image = __trackway_process.image;
    copy_name(node->counts->name, name, sizeof node->counts->name);
    __atomic_store_n(&node->counts->node, index, __ATOMIC_RELEASE);
    if (index != 0) {
        node->next_sibling = tally->nodes[tally->current].first_child;
        tally->nodes[tally->current].first_child = index;
    }
    return index;
}

static bool is_same_name(const char *one, const char *other) {
    if (one == other)
        return true;
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

// The node of the region around the present one with this name, the present one included; 0 if there is none.
static uint32_t find_around(const struct tally *tally, const char *name) {
    uint32_t index = tally->current;
    while (index != 0 && !is_same_name(tally->nodes[index].name, name))
        index = tally->nodes[index].parent;
    return index;
}

static uint32_t find_within(const struct tally *tally, const char *name) {
    uint32_t index = tally->nodes[tally->current].first_child;
    while (index != 0 && !is_same_name(tally->nodes[index].name, name))
        index = tally->nodes[index].next_sibling;
    return index;
}

static uint32_t make_within(struct tally *tally, const char *name) {
    if (tally->node_count == NODES_OF_THREAD) {
        static uint32_t complained;
        if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
            __trackway_complain("more than 1024 regions within each other: further ones count for those around them");
        return tally->current;
    }
    uint64_t signals = block_signals();
    uint32_t index = add_node(tally, __trackway_this_stream(), name);
    restore_signals(signals);
    return index;
}

// ---- Threads ----

static void begin_whole(struct tally *tally, struct stream *stream) {
    uint32_t index = add_node(tally, stream, "");
    struct trackway_counts *counts = tally->nodes[index].counts;
    if (counts) {
        bool whole = !__atomic_load_n(&program_has_regions, __ATOMIC_RELAXED);
        counts->entries = 1;
        counts->counted_entries = whole;
        counts->flags = whole ? TRACKWAY_WHOLE_PROGRAM | TRACKWAY_ENTRY_IS_COUNTED : 0;
        counts->entered_ticks = __trackway_now_ticks();
    }
    go_to(tally, index);
}

static struct tally *begin_tally(void) {
    struct stream *stream = __trackway_this_stream();
    if (!stream) {
        __trackway_counting.state = TRACKWAY_UNRECORDED;
        return NULL;
    }
    struct tally *tally =
        mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tally == MAP_FAILED) {
        __trackway_complain("no memory to count in: a thread runs uncounted");
        __trackway_counting = (struct trackway_counting){(uint64_t)unread_counters(), TRACKWAY_UNRECORDED};
        return NULL;
    }
    own_tally = tally;
    __trackway_watch_this_thread();
    begin_whole(tally, stream);
    return tally;
}

VISIBLE __attribute__((preserve_most)) void __trackway_begin_counting(void) {
    int saved_errno = errno;
    uint64_t signals = block_signals();
    // A handler may have come first.
    if (__trackway_counting.state == TRACKWAY_NOT_BEGUN)
        begin_tally();
    restore_signals(signals);
    errno = saved_errno;
}

static struct tally *this_tally(void) {
    if (__trackway_counting.state == TRACKWAY_NOT_BEGUN)
        __trackway_begin_counting();
    return own_tally;
}

// ---- Regions ----

static void begin_entry(struct node *node) {
    struct trackway_counts *counts = node->counts;
    if (!counts)
        return;
    counts->entries++;
    counts->counted_entries++;
    counts->flags |= TRACKWAY_ENTRY_IS_COUNTED;
    counts->entered_ticks = __trackway_now_ticks();
}

static void end_entry(struct node *node, uint64_t now) {
    struct trackway_counts *counts = node->counts;
    if (!counts || !counts->entered_ticks)
        return;
    uint64_t ticks = now - counts->entered_ticks;
    counts->ticks += ticks;
    if (counts->flags & TRACKWAY_ENTRY_IS_COUNTED)
        counts->counted_ticks += ticks;
    counts->entered_ticks = 0;
}

VISIBLE void __trackway_enter_region(const struct trackway_region *region) {
    struct tally *tally = this_tally();
    if (!tally || tally->busy)
        return;
    tally->busy = true;
    uint32_t depth = tally->depth++;
    if (depth < DEPTH_OF_THREAD) {
        uint32_t around = find_around(tally, region->name);
        tally->stays[depth] = (struct stay){tally->current, around != 0};
        uint32_t inner = around ? around : find_within(tally, region->name);
        if (!inner)
            inner = make_within(tally, region->name);
        if (inner == tally->current)
            tally->stays[depth].is_repeated = true;
        if (!tally->stays[depth].is_repeated)
            begin_entry(&tally->nodes[inner]);
        go_to(tally, inner);
    }
    tally->busy = false;
}

static void leave_last(struct tally *tally, uint64_t now) {
    uint32_t depth = --tally->depth;
    if (depth >= DEPTH_OF_THREAD)
        return;
    if (!tally->stays[depth].is_repeated)
        end_entry(&tally->nodes[tally->current], now);
    go_to(tally, tally->stays[depth].outer);
}

static void leave_to(struct tally *tally, uint32_t depth) {
    uint64_t now = __trackway_now_ticks();
    while (tally->depth > depth)
        leave_last(tally, now);
}

// The depth at which the thread entered the region for the last time; none if it isn't in it.
static bool find_stay(const struct tally *tally, const char *name, uint32_t *depth) {
    uint32_t known = tally->depth < DEPTH_OF_THREAD ? tally->depth : DEPTH_OF_THREAD;
    uint32_t node = tally->current;
    while (known > 0) {
        known--;
        if (is_same_name(tally->nodes[node].name, name)) {
            *depth = known;
            return true;
        }
        node = tally->stays[known].outer;
    }
    return false;
}

VISIBLE void __trackway_leave_region(const struct trackway_region *region) {
    struct tally *tally = own_tally;
    if (!tally || tally->busy)
        return;
    tally->busy = true;
    uint32_t depth;
    if (tally->depth > DEPTH_OF_THREAD)
        tally->depth--;
    else if (find_stay(tally, region->name, &depth))
        leave_to(tally, depth);
    tally->busy = false;
}

// The compiled code tells a guard's marks from others.
VISIBLE void __trackway_enter_scope(const struct trackway_region *region) { __trackway_enter_region(region); }
VISIBLE void __trackway_leave_scope(const struct trackway_region *region) { __trackway_leave_region(region); }

VISIBLE uint32_t __trackway_region_depth(void) { return own_tally ? own_tally->depth : 0; }

VISIBLE void __trackway_leave_regions(uint32_t depth) {
    struct tally *tally = own_tally;
    if (!tally || tally->depth <= depth)
        return;
    leave_to(tally, depth);
    tally->busy = false;
}

// ---- Ends ----

static const unsigned char *end_of_counters(const struct node *node) {
    uint64_t placed = __atomic_load_n(&counters_placed, __ATOMIC_RELAXED);
    return (const unsigned char *)(node->counts + 1) + placed * sizeof(uint64_t);
}

void __trackway_end_counting(void) {
    struct tally *tally = own_tally;
    own_tally = NULL;
    __trackway_counting = (struct trackway_counting){0, TRACKWAY_NOT_BEGUN};
    if (!tally)
        return;
    uint64_t now = __trackway_now_ticks();
    for (uint32_t i = 0; i < tally->node_count; i++)
        if (tally->nodes[i].counts) {
            end_entry(&tally->nodes[i], now);
            __trackway_hand_over(&tally->nodes[i].lane, end_of_counters(&tally->nodes[i]), TRACKWAY_LAST);
        }
    munmap(tally, sizeof *tally);
}

// The parent's nodes stay the parent's. The regions that the child is in by the fork are left.
void __trackway_count_as_child(void) {
    if (!own_tally)
        return;
    munmap(own_tally, sizeof *own_tally);
    own_tally = NULL;
    begin_tally();
}

// The main thread's nodes are swept up once the process is gone: what is open by then ends here.
__attribute__((destructor)) static void note_end(void) {
    struct tally *tally = own_tally;
    uint64_t now = __trackway_now_ticks();
    for (uint32_t i = 0; tally && i < tally->node_count; i++)
        end_entry(&tally->nodes[i], now);
}
