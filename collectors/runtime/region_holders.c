// Which processes are in regions that keep a window open. Each has an entry in the ring, so that the recorder can
// release what a process held that is gone.
#include "kernel.h"
#include "runtime.h"

// A process that is killed while it holds the lock would let others wait for ever.
#define LONGEST_WAIT 1000000
#define PATIENCE 100

#define ONE_REGION UINT64_C(1)

static uint32_t last_entry; // where this process found its own, or a free one

static uint64_t load_entry(const struct trackway_ring *ring, uint32_t index) {
    return __atomic_load_n(&ring->region_holders[index], __ATOMIC_SEQ_CST);
}

static uint64_t ours(uint32_t count) { return (uint64_t)__trackway_process.pid << 32 | count; }

static bool is_ours(uint64_t entry) { return entry >> 32 == __trackway_process.pid; }

static bool change_entry(struct trackway_ring *ring, uint32_t index, uint64_t from, uint64_t to) {
    return __atomic_compare_exchange_n(&ring->region_holders[index], &from, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

// ---- The lock ----

static void wait_a_little(int round) {
    if (round > PATIENCE)
        kernel_call(SYS_sched_yield, 0, 0, 0, 0);
}

static void wait_for_lock(const struct trackway_ring *ring) {
    for (int i = 0; i < LONGEST_WAIT; i++) {
        if (!(__atomic_load_n(&ring->regions_open, __ATOMIC_SEQ_CST) & TRACKWAY_REGIONS_LOCKED))
            return;
        wait_a_little(i);
    }
}

static void lock(struct trackway_ring *ring) {
    for (int i = 0; i < LONGEST_WAIT; i++) {
        uint32_t before = __atomic_fetch_or(&ring->regions_open, TRACKWAY_REGIONS_LOCKED, __ATOMIC_SEQ_CST);
        if (!(before & TRACKWAY_REGIONS_LOCKED))
            return;
        wait_a_little(i);
    }
}

static void unlock(struct trackway_ring *ring) {
    __atomic_fetch_and(&ring->regions_open, ~TRACKWAY_REGIONS_LOCKED, __ATOMIC_SEQ_CST);
}

// ---- Entries ----

// Another thread of this process may be about to take a second one, which does no harm.
static bool add_to(struct trackway_ring *ring, uint32_t index) {
    for (uint64_t entry = load_entry(ring, index); entry == 0 || is_ours(entry); entry = load_entry(ring, index))
        if (change_entry(ring, index, entry, (entry ? entry : ours(0)) + ONE_REGION)) {
            __atomic_store_n(&last_entry, index, __ATOMIC_RELAXED);
            return true;
        }
    return false;
}

static bool add_to_any(struct trackway_ring *ring) {
    if (add_to(ring, __atomic_load_n(&last_entry, __ATOMIC_RELAXED)))
        return true;
    for (uint32_t i = 0; i < TRACKWAY_REGION_HOLDERS; i++)
        if (add_to(ring, i))
            return true;
    return false;
}

void __trackway_hold_regions(struct trackway_ring *ring) {
    if (!add_to_any(ring))
        __atomic_fetch_add(&ring->regions_open, 1, __ATOMIC_SEQ_CST);
    wait_for_lock(ring);
}

// What is held without an entry may be anybody's.
static uint64_t count_without_entry(const struct trackway_ring *ring) {
    return __atomic_load_n(&ring->regions_open, __ATOMIC_SEQ_CST) & ~TRACKWAY_REGIONS_LOCKED;
}

static uint64_t count_of_all(const struct trackway_ring *ring) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < TRACKWAY_REGION_HOLDERS; i++)
        count += (uint32_t)load_entry(ring, i);
    return count;
}

static uint64_t count_of_ours(const struct trackway_ring *ring) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < TRACKWAY_REGION_HOLDERS; i++) {
        uint64_t entry = load_entry(ring, i);
        count += is_ours(entry) ? (uint32_t)entry : 0;
    }
    return count;
}

// Takes one region from an entry of this process that has more than so many.
static bool take_from(struct trackway_ring *ring, uint32_t index, uint32_t but) {
    for (uint64_t entry = load_entry(ring, index); is_ours(entry) && (uint32_t)entry > but;
         entry = load_entry(ring, index))
        if (change_entry(ring, index, entry, entry == ours(1) ? 0 : entry - ONE_REGION))
            return true;
    return false;
}

static void take_without_entry(struct trackway_ring *ring) {
    uint32_t count = __atomic_load_n(&ring->regions_open, __ATOMIC_SEQ_CST);
    while (count & ~TRACKWAY_REGIONS_LOCKED && !__atomic_compare_exchange_n(&ring->regions_open, &count, count - 1,
                                                                            false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

static void take_one(struct trackway_ring *ring) {
    for (uint32_t i = 0; i < TRACKWAY_REGION_HOLDERS; i++)
        if (take_from(ring, i, 0))
            return;
    take_without_entry(ring);
}

void __trackway_let_go_of_region(struct trackway_ring *ring, void (*close)(struct trackway_ring *)) {
    // While this process is in another one, the window stays open for that.
    if (take_from(ring, __atomic_load_n(&last_entry, __ATOMIC_RELAXED), 1))
        return;
    lock(ring);
    uint64_t rest = count_without_entry(ring);
    uint64_t held = count_of_ours(ring) + rest;
    if (held == 1 && count_of_all(ring) + rest == held)
        close(ring);
    if (held > 0)
        take_one(ring);
    unlock(ring);
}

void __trackway_let_go_of_former_image(struct trackway_ring *ring, void (*close)(struct trackway_ring *)) {
    uint64_t held = count_of_ours(ring);
    if (held == 0)
        return;
    lock(ring);
    if (count_of_all(ring) + count_without_entry(ring) == held)
        close(ring);
    for (uint32_t i = 0; i < TRACKWAY_REGION_HOLDERS; i++)
        if (is_ours(load_entry(ring, i)))
            __atomic_store_n(&ring->region_holders[i], 0, __ATOMIC_SEQ_CST);
    unlock(ring);
}
