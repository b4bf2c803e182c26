// Times calls of code that isn't instrumented. Some are timed, and stand for those that passed before them.
#include "counting.h"

// Calls that are timed in any case.
#define FIRST_CALLS 16
// At least one call in so many is timed, on average.
#define MOST_APART 64
// Timing may take one part in so many of a call; shorter calls are timed less often.
#define SHARE 50
// One trial of what timing costs comes with so many timed calls.
#define CALLS_PER_TRIAL 1024

VISIBLE uint64_t __trackway_begin_call(struct trackway_callee *callee) {
    callee->passing = callee->interval ? callee->interval - 1 : 0; // in case it doesn't come back
    return __trackway_now_ticks();
}

static uint64_t next_interval(const struct trackway_callee *callee, uint64_t ticks) {
    uint64_t wanted = SHARE * __trackway_cost_of_timing();
    if (callee->timed_calls < FIRST_CALLS || ticks >= wanted)
        return 1;
    return ticks > wanted / MOST_APART ? wanted / ticks : MOST_APART;
}

VISIBLE void __trackway_end_call(struct trackway_callee *callee, uint64_t start) {
    uint64_t ticks = __trackway_now_ticks() - start, cost = __trackway_cost_of_timing();
    __trackway_add_time(&callee->ticks, ticks, callee->interval ? callee->interval : 1);
    ticks = ticks > cost ? ticks - cost : 0;
    if (++callee->timed_calls % CALLS_PER_TRIAL == 0)
        __trackway_try_timing(1);
    uint64_t interval = next_interval(callee, ticks);
    callee->interval = interval;
    // The distance is random, in case the program has the same rhythm; its mean is the interval.
    struct tally *tally = __trackway_own_tally;
    callee->passing = interval > 1 && tally ? __trackway_next_random(tally) % (2 * interval - 1) : 0;
}
