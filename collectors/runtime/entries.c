// Which entries of regions are counted, and how long they took.
#include "counting.h"

// The counted entries of a region, if not all are counted, are dealt out to so many nodes: how these differ says how
// far the entries that aren't counted may lie off.
#define GROUPS 8
// Of the first entries, which say little of the later ones.
#define FIRST_GROUP 255
// Entries that are counted in any case, so that rare ones are.
#define FIRST_ENTRIES 64
// As many of the next ones tell what counting costs: they are counted and timed in turns, unlike the later ones, of
// which only some are, and so have groups of their own.
#define LEARNING_ENTRIES 64
#define FIRST_LEARNING_GROUP 248
#define LEARNING_GROUPS 4

bool __trackway_counts_all(void) {
    const struct trackway_ring *ring = __trackway_process.ring;
    return ring->count_every <= 1 && ring->count_cost == 0;
}

uint32_t __trackway_next_random(struct tally *tally) {
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
    uint64_t counted = 0, counted_ticks = 0, timed = 0, timed_ticks = 0;
    for (uint32_t i = 1; i < tally->node_count; i++) {
        const struct node *other = &tally->nodes[i];
        // The first entries may be unlike those that are timed.
        if (other->counts && other->parent == node->parent && other->group != FIRST_GROUP &&
            __trackway_is_same_name(other->name, node->name)) {
            counted += other->counts->counted_entries;
            counted_ticks += other->counts->counted_ticks;
            timed += other->counts->timed_entries;
            timed_ticks += other->counts->timed_ticks;
        }
    }
    uint64_t without = mean(timed_ticks, timed), with = mean(counted_ticks, counted);
    uint64_t extra = 2 * cost_of_telling() + (with > without ? with - without : 0);
    uint64_t allowed = without * ring->count_cost / 1000000;
    uint64_t period = allowed ? extra / allowed + 1 : extra * 1000;
    return period < 1u << 20 ? period : 1u << 20;
}

static bool is_learning(uint32_t told) {
    return __trackway_process.ring->count_every <= 1 && told - FIRST_ENTRIES < LEARNING_ENTRIES;
}

// Counted and timed ones take turns, so that they lie evenly among the others; by chance a bit off, lest the program
// has the same rhythm.
enum mode __trackway_mode_of_next(struct tally *tally, struct node *node, uint64_t *countdown) {
    *countdown = 0;
    if (__trackway_counts_all() || !node->counts)
        return COUNTED;
    uint32_t told = node->told++;
    if (told < FIRST_ENTRIES)
        return COUNTED;
    if (!is_learning(told)) {
        uint64_t half = period_of(tally, node) / 2;
        *countdown = half > 1 ? half / 2 + __trackway_next_random(tally) % half : 0;
    }
    return told % 2 ? TIMED : COUNTED;
}

uint32_t __trackway_group_of(const struct node *node, enum mode mode) {
    uint32_t told = node->told - 1;
    if (told < FIRST_ENTRIES)
        return FIRST_GROUP;
    if (is_learning(told))
        return FIRST_LEARNING_GROUP + told / 2 % LEARNING_GROUPS;
    return mode == COUNTED ? told / 2 % GROUPS : 0;
}

// Adds up the entries that passed since the last one that was told of: outside of all that was counted or timed.
void __trackway_note_passed(struct tally *tally, uint64_t index) {
    struct trackway_counts *counts = tally->nodes[tally->region_nodes[index]].counts;
    if (counts)
        counts->entries += tally->passed[index] - tally->countdowns[index];
    tally->passed[index] = tally->countdowns[index];
}

void __trackway_begin_entry(struct node *node, enum mode mode) {
    struct trackway_counts *counts = node->counts;
    if (!counts)
        return;
    counts->entries++;
    if (mode == COUNTED)
        counts->flags |= TRACKWAY_ENTRY_IS_COUNTED;
    else
        counts->flags &= ~(uint64_t)TRACKWAY_ENTRY_IS_COUNTED;
}

uint64_t __trackway_cost_of_timing(void) {
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

void __trackway_end_entry(struct node *node, uint64_t now) {
    struct trackway_counts *counts = node->counts;
    if (!counts || !counts->entered_ticks)
        return;
    uint64_t ticks = now - counts->entered_ticks, cost = __trackway_cost_of_timing();
    ticks = ticks > cost ? ticks - cost : 0;
    bool counted = counts->flags & TRACKWAY_ENTRY_IS_COUNTED;
    *(counted ? &counts->counted_ticks : &counts->timed_ticks) += ticks;
    *(counted ? &counts->counted_entries : &counts->timed_entries) += 1;
    counts->entered_ticks = 0;
}
