// Which entries of regions are counted, and how long they took.
#include "counting.h"

// The counted entries of a region, if not all are counted, are dealt out to so many nodes: how these differ says how
// far the entries that aren't counted may lie off.
#define GROUPS 8
// Groups from 8 × rate on, so that entries of one group were chosen at one rate.
#define SELDOMEST 20
// Entries that are counted in any case, so that rare ones are.
#define FIRST_ENTRIES 64
// The next entries tell what counting costs: they are counted and timed in turns. Of the later entries only some are,
// so the learning entries have groups of their own.
#define LEARNING_ENTRIES 64
#define FIRST_LEARNING_GROUP 248
#define LEARNING_GROUPS 4
// One trial of what timing costs comes with so many reported entries of a node. It is the mean of so many readings,
// since the clock may tick more seldom than it can be read.
#define ENTRIES_PER_TRIAL 4096
#define READINGS 64

bool __trackway_counts_all(void) {
    const struct trackway_ring *ring = __trackway_process.ring;
    return ring->count_every <= 1 && ring->count_cost == 0;
}

// If not all entries are counted, the cost of counting must not be measured. But first entries may be all there are.
bool __trackway_may_be_measured(enum mode mode, uint32_t group) {
    return __trackway_counts_all() || mode == TIMED || group == FIRST_GROUP;
}

uint32_t __trackway_next_random(struct tally *tally) {
    tally->random ^= tally->random << 13;
    tally->random ^= tally->random >> 17;
    tally->random ^= tally->random << 5;
    return tally->random;
}

// Ticks of an entry, but for the longest one: a thread that lost its core once seems to need a thousand times as many.
static uint64_t mean(const struct spent *spent) {
    return spent->entries > 1 ? (spent->ticks - spent->longest) / (spent->entries - 1) : spent->ticks;
}

// The cost of reporting an entry and an exit to the runtime.
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

// The least rate that keeps to the budget. Of 2^rate entries, one is counted and one is timed.
static uint32_t rate_in_budget(const struct sampling *sampling, uint64_t budget) {
    uint64_t with = mean(&sampling->counted);
    uint64_t without = mean(&sampling->timed);
    uint64_t extra = 2 * cost_of_telling() + (with > without ? with - without : 0);
    uint32_t rate = 1;
    while (rate < SELDOMEST && extra * 1000000 > (without * budget) << rate)
        rate++;
    // Each rate is a stratum, which wants many entries.
    bool is_near = rate <= sampling->rate + 1 && sampling->rate <= rate + 1;
    return sampling->rate && is_near ? sampling->rate : rate;
}

static bool is_learning(uint32_t told) {
    return __trackway_process.ring->count_every <= 1 && told - FIRST_ENTRIES < LEARNING_ENTRIES;
}

// Counted and timed entries take turns, so that they lie evenly among the others. The distance varies by chance, in
// case the program has the same rhythm.
static uint64_t next_distance(struct tally *tally, const struct sampling *sampling) {
    uint64_t every = __trackway_process.ring->count_every;
    uint64_t half = (every > 1 ? every : UINT64_C(1) << sampling->rate) / 2;
    return half > 1 ? half / 2 + __trackway_next_random(tally) % half : 0;
}

struct choice __trackway_choose(struct tally *tally, struct node *first) {
    if (__trackway_counts_all() || !first->counts)
        return (struct choice){.mode = COUNTED};
    struct sampling *sampling = &first->sampling;
    uint32_t told = sampling->told++;
    struct choice choice = {.mode = told < FIRST_ENTRIES || told % 2 == 0 ? COUNTED : TIMED};
    if (told < FIRST_ENTRIES)
        choice.group = FIRST_GROUP;
    else if (is_learning(told))
        choice.group = FIRST_LEARNING_GROUP + told / 2 % LEARNING_GROUPS;
    else
        choice.group = sampling->rate * GROUPS + (choice.mode == COUNTED ? told / 2 % GROUPS : 0);
    // The entry stands for those that passed before it, so a new rate is that of the next ones.
    if (told + 1 >= FIRST_ENTRIES && !is_learning(told + 1)) {
        if (__trackway_process.ring->count_every <= 1)
            sampling->rate = rate_in_budget(sampling, __trackway_process.ring->count_cost);
        choice.passing = next_distance(tally, sampling);
        choice.passing_group = sampling->rate * GROUPS;
    }
    return choice;
}

// Adds up the entries that passed since the last reported one, outside of all that was counted or timed.
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
    if (++counts->entries % ENTRIES_PER_TRIAL == 0)
        __trackway_try_timing(1);
    if (mode == COUNTED)
        counts->flags |= TRACKWAY_ENTRY_IS_COUNTED;
    else
        counts->flags &= ~(uint64_t)TRACKWAY_ENTRY_IS_COUNTED;
}

static uint64_t least_ticks = UINT64_MAX;

void __trackway_try_timing(unsigned trials) {
    for (; trials > 0; trials--) {
        uint64_t begin = __trackway_now_ticks(), end = begin;
        for (int i = 0; i < READINGS; i++)
            end = __trackway_now_ticks();
        uint64_t ticks = (end - begin + READINGS / 2) / READINGS;
        if (ticks < __atomic_load_n(&least_ticks, __ATOMIC_RELAXED))
            __atomic_store_n(&least_ticks, ticks, __ATOMIC_RELAXED);
    }
}

uint64_t __trackway_cost_of_timing(void) {
    uint64_t least = __atomic_load_n(&least_ticks, __ATOMIC_RELAXED);
    return least ? least : 1;
}

void __trackway_add_time(uint64_t *sum, uint64_t ticks, uint64_t times) {
    uint64_t with = *sum + ticks * times, cost = __trackway_cost_of_timing() * times;
    *sum = with > cost ? with - cost : 0;
}

static void add_entry(struct spent *spent, uint64_t ticks) {
    uint64_t before = spent->ticks;
    __trackway_add_time(&spent->ticks, ticks, 1);
    uint64_t taken = spent->ticks > before ? spent->ticks - before : 0;
    if (taken > spent->longest)
        spent->longest = taken;
    spent->entries++;
}

void __trackway_end_entry(struct node *node, uint64_t now) {
    struct trackway_counts *counts = node->counts;
    if (!counts || !counts->entered_ticks)
        return;
    uint64_t ticks = now - counts->entered_ticks;
    bool counted = counts->flags & TRACKWAY_ENTRY_IS_COUNTED;
    __trackway_add_time(counted ? &counts->counted_ticks : &counts->timed_ticks, ticks, 1);
    *(counted ? &counts->counted_entries : &counts->timed_entries) += 1;
    counts->entered_ticks = 0;
    if (node->group == FIRST_GROUP)
        return; // they may be unlike the later ones
    struct sampling *sampling = &node->first->sampling;
    add_entry(counted ? &sampling->counted : &sampling->timed, ticks);
}
