// Regions that code inherits which one thread starts and another may run: a team's part of a parallel construct, a
// task, and with `trackway cc --inherit=threads` a thread.
#include "counting.h"

// What is kept in a place: the address of the node in which the thread is, and in the lowest bits how its entry is
// dealt with. Nodes stay where they are as long as their thread lives. 0: outside of all regions.
#define MODE_BITS 3

static enum mode mode_of(uint64_t shared) { return (enum mode)(shared & MODE_BITS); }
static const struct node *node_of(uint64_t shared) { return (const struct node *)(shared & ~(uint64_t)MODE_BITS); }

VISIBLE void __trackway_share_regions(uint64_t *place) {
    const struct tally *tally = __trackway_own_tally;
    bool is_in_region = tally && !tally->busy && tally->current != 0;
    *place = is_in_region ? (uint64_t)&tally->nodes[tally->current] | __trackway_present_mode(tally) : 0;
}

// OpenMP creates threads as a team forks, before this thread runs its own part. They are the team's, and outlive it.
VISIBLE void __trackway_share_with_team(uint64_t *place) {
    __trackway_share_regions(place);
    if (__trackway_own_tally)
        __trackway_own_tally->forks_team = true;
}

VISIBLE void __trackway_share_with_thread(uint64_t *place) {
    const struct tally *tally = __trackway_own_tally;
    *place = 0;
    if (tally && !tally->forks_team)
        __trackway_share_regions(place);
}

// Whether the thread is in the same entries of the same regions.
static bool is_there(const struct tally *tally, uint64_t shared) {
    const struct node *node = node_of(shared), *present = &tally->nodes[tally->current];
    if (!node)
        return tally->current == 0;
    return present->origin.stream == node->origin.stream && present->origin.node == node->origin.node &&
           __trackway_present_mode(tally) == mode_of(shared);
}

// Enters the region like the thread that entered it. If this thread is in a region of that name already, it counts
// there.
static void inherit(struct tally *tally, const struct node *shared, enum mode mode, bool may_be_measured) {
    struct stay stay = {tally->current, mode, true, may_be_measured};
    uint32_t inner = __trackway_find_around(tally, shared->name);
    if (!inner) {
        inner = __trackway_inherited_node(tally, shared);
        const struct trackway_counts *counts = tally->nodes[inner].counts;
        stay.is_repeated = inner == tally->current || (counts && counts->entered_ticks);
        if (!stay.is_repeated)
            __trackway_begin_entry(&tally->nodes[inner], mode);
    }
    __trackway_begin_stay(tally, inner, &stay);
}

static const struct node *node_around(const struct node *node) { return node - node->index + node->parent; }

static void inherit_all(struct tally *tally, const struct node *shared, enum mode mode) {
    const struct node *path[DEPTH_OF_THREAD]; // the innermost first
    uint32_t length = 0;
    for (; shared->index != 0 && length < DEPTH_OF_THREAD; shared = node_around(shared))
        path[length++] = shared;
    bool may_be_measured = __trackway_may_be_measured(mode, path[length - 1]->group);
    while (length > 0 && tally->depth < DEPTH_OF_THREAD) {
        tally->busy = true;
        inherit(tally, path[--length], mode, may_be_measured);
    }
}

// Work that is started outside of all regions stays there, although the thread that runs it may be in one.
static void go_outside(struct tally *tally) {
    struct stay outside = {tally->current, tally->whole ? COUNTED : NOT_TIMED, true, tally->whole};
    if (tally->depth < DEPTH_OF_THREAD)
        __trackway_begin_stay(tally, 0, &outside);
}

VISIBLE uint32_t __trackway_join_regions(const uint64_t *place) {
    uint64_t shared = *place;
    // A thread that hasn't begun needn't for what is outside.
    struct tally *tally = shared ? __trackway_this_tally() : __trackway_own_tally;
    if (!tally)
        return 0;
    tally->forks_team = false;
    uint32_t depth = tally->depth;
    if (tally->busy || is_there(tally, shared))
        return depth;
    if (shared)
        inherit_all(tally, node_of(shared), mode_of(shared));
    else
        go_outside(tally);
    return depth;
}

VISIBLE uint32_t __trackway_begin_thread(const uint64_t *place) {
    uint32_t depth = __trackway_join_regions(place);
    struct tally *tally = __trackway_own_tally;
    if (tally)
        tally->nodes_at_start = tally->node_count;
    return depth;
}
