// Which entries of regions are counted, and how long they took.
#include "counting.h"

// The counted entries of a region, if not all are counted, are dealt out to so many nodes: how these differ says how
// far the entries that aren't counted may lie off.
#define GROUPS 8
// Entries that are counted in any case, so that rare ones are; as many again are counted and timed in turns.
#define FIRST_ENTRIES 64

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
    uint64_t counted = 0, counted_ticks = 0;
    const struct trackway_counts *counts = node->counts;
    for (uint32_t i = 1; i < tally->node_count; i++)
        if (tally->nodes[i].counts && tally->nodes[i].parent == node->parent &&
            __trackway_is_same_name(tally->nodes[i].name, node->name)) {
            counted += tally->nodes[i].counts->counted_entries;
            counted_ticks += tally->nodes[i].counts->counted_ticks;
        }
    uint64_t timed = mean(counts->timed_ticks, counts->timed_entries), with = mean(counted_ticks, counted);
    uint64_t extra = 2 * cost_of_telling() + (with > timed ? with - timed : 0);
    uint64_t allowed = timed * ring->count_cost / 1000000;
    uint64_t period = allowed ? extra / allowed + 1 : extra * 1000;
    return period < 1u << 20 ? period : 1u << 20;
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
    // The first ones of those that take turns tell what counting costs.
    if (told >= 2 * FIRST_ENTRIES) {
        uint64_t half = period_of(tally, node) / 2;
        *countdown = half > 1 ? half / 2 + __trackway_next_random(tally) % half : 0;
    }
    return told % 2 ? TIMED : COUNTED;
}

uint32_t __trackway_group_of(const struct node *node) {
    return node->told <= FIRST_ENTRIES ? FIRST_GROUP : node->told / 2 % GROUPS;
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

void __trackway_end_entry(struct node *node, uint64_t now) {
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

void __trackway_calibrate(void) { cost_of_timing(); }
