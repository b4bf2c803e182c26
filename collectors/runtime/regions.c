// Regions, which the program reports when it enters and leaves them.
#include "counting.h"

static uint64_t last_region;

static void give_index(struct trackway_region *region) {
    uint64_t none = 0, index = __atomic_add_fetch(&last_region, 1, __ATOMIC_RELAXED);
    if (index < COUNTDOWNS) // else it keeps none, and all its entries are reported
        __atomic_compare_exchange_n(&region->index, &none, index, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool present_may_be_measured(const struct tally *tally) {
    uint32_t depth = tally->depth < DEPTH_OF_THREAD ? tally->depth : DEPTH_OF_THREAD;
    return depth == 0 ? tally->whole : tally->stays[depth - 1].may_be_measured;
}

// The next entries.
static void let_pass(struct tally *tally, uint64_t index, uint32_t first, const struct choice *choice) {
    if (!index)
        return;
    tally->countdowns[index] = tally->passed[index] = choice->passing;
    tally->region_nodes[index] =
        choice->passing ? __trackway_node_of_group(tally, first, choice->passing_group) : first;
}

// The node of a region that the thread isn't in already. Within another one it is dealt with as that one is.
static uint32_t enter_node(struct tally *tally, struct trackway_region *region, struct stay *stay) {
    uint32_t first = __trackway_node_within(tally, region->name), inner = first;
    enum mode outer = __trackway_present_mode(tally);
    if (outer != NOT_TIMED) {
        stay->mode = outer;
    } else {
        __trackway_note_passed(tally, region->index);
        struct choice choice = __trackway_choose(tally, &tally->nodes[first]);
        stay->mode = choice.mode;
        let_pass(tally, region->index, first, &choice);
        inner = __trackway_node_of_group(tally, first, choice.group);
        stay->may_be_measured = __trackway_may_be_measured(choice.mode, choice.group);
    }
    // One that is open goes on: recursion through several regions, or more regions than have nodes.
    const struct trackway_counts *counts = tally->nodes[inner].counts;
    stay->is_repeated = inner == tally->current || (counts && counts->entered_ticks);
    if (!stay->is_repeated)
        __trackway_begin_entry(&tally->nodes[inner], stay->mode);
    return inner;
}

// Last, so that nothing of what we do is taken for the program's.
static void begin_time(struct tally *tally, struct node *node, bool may_be_measured) {
    if (!node->counts)
        return;
    if (may_be_measured)
        __trackway_begin_measuring(tally, node);
    node->counts->entered_ticks = __trackway_now_ticks();
}

void __trackway_begin_stay(struct tally *tally, uint32_t node, const struct stay *stay) {
    uint32_t depth = tally->depth++;
    bool is_known = depth < DEPTH_OF_THREAD;
    if (is_known)
        tally->stays[depth] = *stay;
    __trackway_go_to(tally, node);
    tally->busy = false;
    if (is_known && !stay->is_repeated)
        begin_time(tally, &tally->nodes[node], stay->may_be_measured);
}

VISIBLE void __trackway_enter_region(struct trackway_region *region) {
    struct tally *tally = __trackway_this_tally();
    if (!tally || tally->busy)
        return;
    tally->busy = true;
    if (!region->index)
        give_index(region);
    struct stay stay = {tally->current, __trackway_present_mode(tally), true, present_may_be_measured(tally)};
    uint32_t inner = tally->current;
    if (tally->depth < DEPTH_OF_THREAD) {
        uint32_t around = __trackway_find_around(tally, region->name);
        inner = around ? around : enter_node(tally, region, &stay);
    }
    __trackway_begin_stay(tally, inner, &stay);
}

static void leave_last(struct tally *tally, uint64_t now) {
    uint32_t depth = --tally->depth, outer = tally->current;
    if (depth < DEPTH_OF_THREAD) {
        if (!tally->stays[depth].is_repeated) {
            __trackway_end_measuring(tally, &tally->nodes[tally->current]);
            __trackway_end_entry(&tally->nodes[tally->current], now);
        }
        outer = tally->stays[depth].outer;
    }
    __trackway_go_to(tally, outer);
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
        if (__trackway_is_same_name(tally->nodes[node].name, name)) {
            *depth = known;
            return true;
        }
        node = tally->stays[known].outer;
    }
    return false;
}

VISIBLE void __trackway_leave_region(const struct trackway_region *region) {
    struct tally *tally = __trackway_own_tally;
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

VISIBLE uint32_t __trackway_region_depth(void) { return __trackway_own_tally ? __trackway_own_tally->depth : 0; }

VISIBLE void __trackway_leave_regions(uint32_t depth, const struct trackway_region *but) {
    struct tally *tally = __trackway_own_tally;
    if (!tally || tally->depth <= depth)
        return;
    tally->busy = false; // the program may have been in here
    uint32_t last;
    if (but && find_stay(tally, but->name, &last) && last >= depth)
        depth = last + 1;
    leave_to(tally, depth, __trackway_now_ticks());
}
