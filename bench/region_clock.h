// Before everything else in a workload (-include): regions that a clock measures, without Trackway, for programs of one
// thread in which no region lies within another. What they took goes to standard error at the end: nanoseconds,
// entries, name.
#ifndef BENCH_REGION_CLOCK_H
#define BENCH_REGION_CLOCK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Instead of workloads/region.h.
#define WORKLOADS_REGION_H
#define TRACKWAY_REGION_BEGIN(name) region_clock_begin()
#define TRACKWAY_REGION_END(name) region_clock_end(name)

enum { REGION_CLOCK_MOST = 16, REGION_CLOCK_TRIES = 1001 };

struct region_clock {
    const char *name;
    int64_t time_ns, entries;
};

static struct region_clock region_clocks[REGION_CLOCK_MOST];
static int64_t region_clock_begun_ns;

static inline int64_t region_clock_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

__attribute__((noinline, unused)) static void region_clock_begin(void) {
    region_clock_begun_ns = region_clock_now_ns();
}

__attribute__((noinline, unused)) static void region_clock_end(const char *name) {
    int64_t time_ns = region_clock_now_ns() - region_clock_begun_ns;
    int number = 0;
    while (number < REGION_CLOCK_MOST - 1 && region_clocks[number].name &&
           strcmp(region_clocks[number].name, name) != 0)
        number++;
    region_clocks[number].name = name;
    region_clocks[number].time_ns += time_ns;
    region_clocks[number].entries++;
}

// What a reading of the clock adds to each entry: the least that an empty one takes, since the others were disturbed.
static int64_t region_clock_cost_ns(void) {
    int64_t least_ns = INT64_MAX;
    for (int number = 0; number < REGION_CLOCK_TRIES; number++) {
        region_clock_begin();
        int64_t time_ns = region_clock_now_ns() - region_clock_begun_ns;
        least_ns = time_ns < least_ns ? time_ns : least_ns;
    }
    return least_ns;
}

// One of each source file that includes it.
__attribute__((destructor)) static void region_clock_print(void) {
    if (!region_clocks[0].name)
        return;
    int64_t cost_ns = region_clock_cost_ns();
    for (int number = 0; number < REGION_CLOCK_MOST && region_clocks[number].name; number++) {
        struct region_clock clock = region_clocks[number];
        fprintf(stderr, "region %lld %lld %s\n", (long long)(clock.time_ns - clock.entries * cost_ns),
                (long long)clock.entries, clock.name);
    }
}

#endif
