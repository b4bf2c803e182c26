// Counts what was placed, for all processes, in the plan's file.
#include "far.h"

void count_placed(size_t size, uint64_t live_bytes) {
    struct plan_counters *counters = &__trackway_plan->counters;
    __atomic_fetch_add(&counters->placed_blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counters->placed_bytes, size, __ATOMIC_RELAXED);
    uint64_t most = __atomic_load_n(&counters->most_live_bytes, __ATOMIC_RELAXED);
    while (live_bytes > most && !__atomic_compare_exchange_n(&counters->most_live_bytes, &most, live_bytes, true,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void count_full(size_t size) {
    __atomic_fetch_add(&__trackway_plan->counters.full_blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&__trackway_plan->counters.full_bytes, size, __ATOMIC_RELAXED);
}
