// Counting: a thread has a node for each region within another that it enters, whose counters the compiled code adds
// to.
#include "kernel.h"
#include "runtime.h"

#include <errno.h>
#include <sys/mman.h>

#define NODES_OF_THREAD 1024
// Regions that a thread may be in at once. What it enters beyond them counts for the last of these.
#define DEPTH_OF_THREAD 256
// Regions of which entries may be passed over.
#define COUNTDOWNS 1024
// The counted entries of a region, if not all are counted, are dealt out to so many nodes: how these differ says how
// far the entries that aren't counted may lie off.
#define GROUPS 8
// Of the first entries, which say little of the later ones.
#define FIRST_GROUP 255
// Entries that are counted in any case, so that rare ones are; as many again are counted and timed in turns.
#define FIRST_ENTRIES 64

struct node {
    struct lane lane;
    struct trackway_counts *counts;
    const char *name; // as the program gave it; equal names of two units may be two texts
    uint32_t group;
    uint32_t parent;
    uint32_t first_child; // 0: none
    uint32_t next_sibling;
    uint32_t told; // entries, of its first group
};

enum mode { NOT_TIMED, TIMED, COUNTED };

// A region that the thread is in.
struct stay {
    uint32_t outer;   // the node in which it was entered
    enum mode mode;   // of it and of what is entered within
    bool is_repeated; // it was in this region already: neither an entry nor time of its own
};

struct tally {
    uint32_t node_count;
    uint32_t current;
    uint32_t depth; // may exceed DEPTH_OF_THREAD
    bool whole;     // what is outside of regions is counted, too
    bool busy;      // a signal handler that comes now must not touch this
    uint32_t random;
    struct stay stays[DEPTH_OF_THREAD];
    struct node nodes[NODES_OF_THREAD];
    uint64_t countdowns[COUNTDOWNS]; // what the compiled code counts down
    uint64_t passed[COUNTDOWNS];     // from where
    uint32_t region_nodes[COUNTDOWNS];
};

VISIBLE THREAD_LOCAL struct trackway_counting __trackway_counting;
static THREAD_LOCAL struct tally *own_tally;

// Shared by all images of this process that fork left alike.
static uint64_t counters_placed;
static bool program_has_regions;
static uint64_t last_region;

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

static enum mode present_mode(const struct tally *tally) {
    uint32_t depth = tally->depth < DEPTH_OF_THREAD ? tally->depth : DEPTH_OF_THREAD;
    if (depth == 0)
        return tally->whole ? COUNTED : NOT_TIMED;
    return tally->stays[depth - 1].mode;
}

// What isn't to be counted is, if at all, counted in node 0, of which nobody reads it then.
static void go_to(struct tally *tally, uint32_t index) {
    tally->current = index;
    bool counted = present_mode(tally) == COUNTED && tally->nodes[index].counts;
    const struct node *node = &tally->nodes[counted ? index : 0];
    __trackway_counting.counters = node->counts ? (uint64_t)(node->counts + 1) : (uint64_t)unread_counters();
    __trackway_counting.state = counted ? TRACKWAY_COUNTS_NOW : TRACKWAY_COUNTS_NOT;
    __trackway_counting.open = tally->depth;
}

static void copy_name(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size - 1 && from[i]; i++)
        to[i] = from[i];
}

// Without a free buffer the node stands for what isn't counted; the stream notes the loss.
static uint32_t add_node(struct tally *tally, struct stream *stream, const char *name, uint32_t group) {
    uint32_t index = tally->node_count++;
    struct node *node = &tally->nodes[index];
    *node = (struct node){.name = name, .group = group, .parent = tally->current};
    node->lane = (struct lane){
        .kind = TRACKWAY_COUNTS, .stream = stream->records.stream, .sequence = stream->next_node++, .must_wait = true};
    struct room room = __trackway_take(&node->lane, stream);
    if (index != 0) {
        node->next_sibling = tally->nodes[tally->current].first_child;
        tally->nodes[tally->current].first_child = index;
    }
    if (!node->lane.buffer)
        return index;
    node->counts = (struct trackway_counts *)room.begin;
    node->counts->parent = tally->current;
    node->counts->thread = stream->tid;
    node->counts->image = __trackway_process.image;
    node->counts->flags = group << 8 | (TICKS_ARE_NANOSECONDS ? TRACKWAY_TICKS_ARE_NANOSECONDS : 0);
    copy_name(node->counts->name, name, sizeof node->counts->name);
    __atomic_store_n(&node->counts->node, index, __ATOMIC_RELEASE);
    return index;
}

static bool is_same_name(const char *one, const char *other) {
    if (one == other)
        return true;
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

// The node that stands for the region if it is entered again: the present one, or the last one around it if there are
// two, lest recursion through several regions makes ever more nodes. 0: none.
static uint32_t find_around(const struct tally *tally, const char *name) {
    uint32_t last = 0, times = 0;
    for (uint32_t index = tally->current; index != 0; index = tally->nodes[index].parent) {
        if (!is_same_name(tally->nodes[index].name, name))
            continue;
        if (index == tally->current || ++times == 2)
            return last ? last : index;
        last = index;
    }
    return 0;
}

static uint32_t find_within(const struct tally *tally, const char *name, uint32_t group) {
    uint32_t index = tally->nodes[tally->current].first_child;
    while (index != 0 && (tally->nodes[index].group != group || !is_same_name(tally->nodes[index].name, name)))
        index = tally->nodes[index].next_sibling;
    return index;
}

static uint32_t make_within(struct tally *tally, const char *name, uint32_t group) {
    if (tally->node_count == NODES_OF_THREAD) {
        static uint32_t complained;
        if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
            __trackway_complain("more than 1024 regions within each other: further ones count for those around them");
        return tally->current;
    }
    uint64_t signals = block_signals();
    uint32_t index = add_node(tally, __trackway_this_stream(), name, group);
    restore_signals(signals);
    return index;
}

static uint32_t node_within(struct tally *tally, const char *name, uint32_t group) {
    uint32_t index = find_within(tally, name, group);
    return index ? index : make_within(tally, name, group);
}

// ---- Threads ----

static uint64_t cost_of_timing(void);

static void begin_whole(struct tally *tally, struct stream *stream) {
    tally->whole = !__atomic_load_n(&program_has_regions, __ATOMIC_RELAXED);
    struct trackway_counts *counts = tally->nodes[add_node(tally, stream, "", 0)].counts;
    if (counts) {
        counts->entries = 1;
        counts->flags |= tally->whole ? TRACKWAY_WHOLE_PROGRAM | TRACKWAY_ENTRY_IS_COUNTED : 0;
        counts->entered_ticks = __trackway_now_ticks();
    }
    __trackway_counting.countdowns = (uint64_t)tally->countdowns;
    go_to(tally, 0);
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
        __trackway_counting.state = TRACKWAY_UNRECORDED;
        return NULL;
    }
    own_tally = tally;
    tally->random = stream->tid * UINT32_C(0x9E3779B1) | 1;
    __trackway_watch_this_thread();
    cost_of_timing();
    begin_whole(tally, stream);
    return tally;
}

VISIBLE void __trackway_begin_counting(void) {
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

// ---- Which entries are counted ----

static bool counts_all(const struct trackway_ring *ring) { return ring->count_every <= 1 && ring->count_cost == 0; }

static uint32_t next_random(struct tally *tally) {
    tally->random ^= tally->random << 13;
    tally->random ^= tally->random >> 17;
    tally->random ^= tally->random << 5;
    return tally->random;
}

static uint64_t mean(uint64_t ticks, uint64_t entries) { return entries ? ticks / entries : 0; }

// What it takes to tell the runtime of an entry and an exit.
static uint64_t cost_of_telling(void) {
    static uint64_t known;
    if (!known) {
        uint64_t before = __trackway_now_ticks();
        for (int i = 0; i < 7; i++)
            __trackway_now_ticks();
        known = (__trackway_now_ticks() - before) / 2; // as much again for all else
    }
    return known;
}

// Of so many entries one is counted and one is timed.
static uint64_t period_of(const struct tally *tally, const struct node *node) {
    const struct trackway_ring *ring = __trackway_process.ring;
    if (ring->count_every > 1)
        return ring->count_every;
    uint64_t counted = 0, counted_ticks = 0;
    const struct trackway_counts *counts = node->counts;
    for (uint32_t i = 1; i < tally->node_count; i++)
        if (tally->nodes[i].counts && tally->nodes[i].parent == node->parent &&
            is_same_name(tally->nodes[i].name, node->name)) {
            counted += tally->nodes[i].counts->counted_entries;
            counted_ticks += tally->nodes[i].counts->counted_ticks;
        }
    uint64_t timed = mean(counts->timed_ticks, counts->timed_entries), with = mean(counted_ticks, counted);
    uint64_t extra = 2 * cost_of_telling() + (with > timed ? with - timed : 0);
    uint64_t allowed = timed * ring->count_cost / 1000000;
    uint64_t period = allowed ? extra / allowed + 1 : extra * 1000;
    return period < 1u << 20 ? period : 1u << 20;
}

// How the entry is dealt with, and how many of the next ones pass. Counted and timed ones take turns, so that they lie
// evenly among the others; by chance a bit off, lest the program has the same rhythm.
static enum mode mode_of_next(struct tally *tally, struct node *node, uint64_t *countdown) {
    *countdown = 0;
    if (counts_all(__trackway_process.ring) || !node->counts)
        return COUNTED;
    uint32_t told = node->told++;
    if (told < FIRST_ENTRIES)
        return COUNTED;
    // The first ones of those that take turns tell what counting costs.
    if (told >= 2 * FIRST_ENTRIES) {
        uint64_t half = period_of(tally, node) / 2;
        *countdown = half > 1 ? half / 2 + next_random(tally) % half : 0;
    }
    return told % 2 ? TIMED : COUNTED;
}

// Of an entry that was just told of, and is counted.
static uint32_t group_of(const struct node *node) {
    return node->told <= FIRST_ENTRIES ? FIRST_GROUP : node->told / 2 % GROUPS;
}

// ---- Regions ----

static void give_index(struct trackway_region *region) {
    uint64_t none = 0, index = __atomic_add_fetch(&last_region, 1, __ATOMIC_RELAXED);
    if (index < COUNTDOWNS) // else it keeps none, and all its entries are told of
        __atomic_compare_exchange_n(&region->index, &none, index, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// Adds up the entries that passed since the last one that was told of: outside of all that was counted or timed.
static void note_passed(struct tally *tally, uint64_t index) {
    struct trackway_counts *counts = tally->nodes[tally->region_nodes[index]].counts;
    if (counts)
        counts->entries += tally->passed[index] - tally->countdowns[index];
    tally->passed[index] = tally->countdowns[index];
}

static void begin_entry(struct node *node, enum mode mode) {
    struct trackway_counts *counts = node->counts;
    if (!counts)
        return;
    counts->entries++;
    if (mode == COUNTED)
        counts->flags |= TRACKWAY_ENTRY_IS_COUNTED;
    else
        counts->flags &= ~(uint64_t)TRACKWAY_ENTRY_IS_COUNTED;
}

// What an entry of nothing would seem to take.
static uint64_t cost_of_timing(void) {
    static uint64_t known;
    if (!known) {
        uint64_t least = UINT64_MAX;
        for (int i = 0; i < 16; i++) {
            uint64_t before = __trackway_now_ticks(), ticks = __trackway_now_ticks() - before;
            least = ticks < least ? ticks : least;
        }
        known = least ? least : 1;
    }
    return known;
}

static void end_entry(struct node *node, uint64_t now) {
    struct trackway_counts *counts = node->counts;
    if (!counts || !counts->entered_ticks)
        return;
    uint64_t ticks = now - counts->entered_ticks, cost = cost_of_timing();
    ticks = ticks > cost ? ticks - cost : 0;
    bool counted = counts->flags & TRACKWAY_ENTRY_IS_COUNTED;
    *(counted ? &counts->counted_ticks : &counts->timed_ticks) += ticks;
    *(counted ? &counts->counted_entries : &counts->timed_entries) += 1;
    counts->entered_ticks = 0;
}

// The node of a region that the thread isn't in already. Within another one it is dealt with as that one is.
static uint32_t enter_node(struct tally *tally, struct trackway_region *region, struct stay *stay) {
    uint32_t first = node_within(tally, region->name, 0);
    struct node *node = &tally->nodes[first];
    uint64_t index = region->index;
    enum mode outer = present_mode(tally);
    if (outer != NOT_TIMED) {
        stay->mode = outer;
    } else {
        uint64_t countdown;
        note_passed(tally, index);
        stay->mode = mode_of_next(tally, node, &countdown);
        if (index) {
            tally->countdowns[index] = tally->passed[index] = countdown;
            tally->region_nodes[index] = first;
        }
    }
    bool is_dealt_out = stay->mode == COUNTED && outer == NOT_TIMED && !counts_all(__trackway_process.ring);
    uint32_t group = is_dealt_out ? group_of(node) : 0;
    uint32_t inner = group ? node_within(tally, region->name, group) : first;
    if (!tally->nodes[inner].counts)
        inner = first;
    // One that is open goes on: recursion through several regions, or more regions than have nodes.
    const struct trackway_counts *counts = tally->nodes[inner].counts;
    stay->is_repeated = inner == tally->current || (counts && counts->entered_ticks);
    if (!stay->is_repeated)
        begin_entry(&tally->nodes[inner], stay->mode);
    return inner;
}

VISIBLE void __trackway_enter_region(struct trackway_region *region) {
    struct tally *tally = this_tally();
    if (!tally || tally->busy)
        return;
    tally->busy = true;
    if (!region->index)
        give_index(region);
    uint32_t depth = tally->depth, inner = tally->current;
    if (depth < DEPTH_OF_THREAD) {
        struct stay stay = {tally->current, present_mode(tally), true};
        uint32_t around = find_around(tally, region->name);
        if (around) {
            inner = around;
        } else {
            inner = enter_node(tally, region, &stay);
        }
        tally->stays[depth] = stay;
    }
    tally->depth = depth + 1;
    go_to(tally, inner);
    tally->busy = false;
    struct trackway_counts *counts = tally->nodes[inner].counts;
    if (depth < DEPTH_OF_THREAD && !tally->stays[depth].is_repeated && counts)
        counts->entered_ticks = __trackway_now_ticks(); // last, so that nothing of this is taken for the program's
}

static void leave_last(struct tally *tally, uint64_t now) {
    uint32_t depth = --tally->depth, outer = tally->current;
    if (depth < DEPTH_OF_THREAD) {
        if (!tally->stays[depth].is_repeated)
            end_entry(&tally->nodes[tally->current], now);
        outer = tally->stays[depth].outer;
    }
    go_to(tally, outer);
}

static void leave_to(struct tally *tally, uint32_t depth, uint64_t now) {
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
    uint64_t now = __trackway_now_ticks(); // first, as above
    tally->busy = true;
    uint32_t depth;
    if (tally->depth > DEPTH_OF_THREAD)
        leave_to(tally, tally->depth - 1, now);
    else if (find_stay(tally, region->name, &depth))
        leave_to(tally, depth, now);
    tally->busy = false;
}

// The compiled code tells a guard's marks from others.
VISIBLE void __trackway_enter_scope(struct trackway_region *region) { __trackway_enter_region(region); }
VISIBLE void __trackway_leave_scope(const struct trackway_region *region) { __trackway_leave_region(region); }

VISIBLE uint32_t __trackway_region_depth(void) { return own_tally ? own_tally->depth : 0; }

VISIBLE void __trackway_leave_regions(uint32_t depth, const struct trackway_region *but) {
    struct tally *tally = own_tally;
    if (!tally || tally->depth <= depth)
        return;
    tally->busy = false; // the program may have been in here
    uint32_t last;
    if (but && find_stay(tally, but->name, &last) && last >= depth)
        depth = last + 1;
    leave_to(tally, depth, __trackway_now_ticks());
}

// ---- Ends ----

static const unsigned char *end_of_counters(const struct node *node) {
    uint64_t placed = __atomic_load_n(&counters_placed, __ATOMIC_RELAXED);
    return (const unsigned char *)(node->counts + 1) + placed * sizeof(uint64_t);
}

// Of what is still open, and of entries that passed without a word.
static void close_all(struct tally *tally) {
    uint64_t now = __trackway_now_ticks();
    for (uint32_t i = 0; i < tally->node_count; i++)
        end_entry(&tally->nodes[i], now);
    for (uint64_t i = 1; i < COUNTDOWNS; i++)
        note_passed(tally, i);
}

void __trackway_end_counting(void) {
    struct tally *tally = own_tally;
    own_tally = NULL;
    __trackway_counting = (struct trackway_counting){0};
    if (!tally)
        return;
    close_all(tally);
    for (uint32_t i = 0; i < tally->node_count; i++)
        if (tally->nodes[i].counts) {
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
    if (own_tally)
        close_all(own_tally);
}
