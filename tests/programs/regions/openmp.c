// Regions around OpenMP's constructs: what each thread writes counts for the region that was open where the construct
// stands. Prints, by its own arithmetic, each region with its entries and the writes of `touched`.
#include "regions.h"

#include <omp.h>
#include <stdio.h>

volatile long touched;

static void report(const char *name, long entries, long writes) { printf("%s: %ld %ld\n", name, entries, writes); }

static void loops(void) {
    for (int entry = 0; entry < 3; entry++) {
        TRACKWAY_REGION_BEGIN("parallel for");
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 100; i++)
            touch(2);
#pragma omp parallel for schedule(dynamic, 3) if (entry > 0)
        for (int i = 0; i < 50; i++)
            touch(1);
        TRACKWAY_REGION_END("parallel for");
    }
    report("parallel for", 3, 3 * (200 + 50));

    double sum = 0;
    TRACKWAY_REGION_BEGIN("collapse");
#pragma omp parallel for collapse(2) reduction(+ : sum)
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 7; j++) {
            touch(1);
            sum += i * j;
        }
    TRACKWAY_REGION_END("collapse");
    report("collapse", 1, 6 * 7);
    printf("sum %g\n", sum);
}

static void shares(void) {
    TRACKWAY_REGION_BEGIN("sections");
#pragma omp parallel sections
    {
#pragma omp section
        touch(1);
#pragma omp section
        touch(2);
#pragma omp section
        touch(3);
    }
    TRACKWAY_REGION_END("sections");
    report("sections", 1, 1 + 2 + 3);

    TRACKWAY_REGION_BEGIN("single, master, ordered");
#pragma omp parallel
    {
#pragma omp single
        touch(4);
#pragma omp master
        touch(5);
#pragma omp for ordered
        for (int i = 0; i < 10; i++) {
#pragma omp ordered
            touch(1);
        }
    }
    TRACKWAY_REGION_END("single, master, ordered");
    report("single, master, ordered", 1, 4 + 5 + 10);

    TRACKWAY_REGION_BEGIN("teams");
#pragma omp teams distribute parallel for num_teams(2)
    for (int i = 0; i < 30; i++)
        touch(1);
    TRACKWAY_REGION_END("teams");
    report("teams", 1, 30);
}

// A team within a team, and a region that its threads enter themselves.
static void nest(void) {
    TRACKWAY_REGION_BEGIN("around");
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 4; i++) {
        touch(1);
        TRACKWAY_REGION_BEGIN("within");
#pragma omp parallel for num_threads(2)
        for (int j = 0; j < 25; j++)
            touch(2);
        TRACKWAY_REGION_END("within");
    }
    TRACKWAY_REGION_END("around");
    report("around", 1, 4);
    report("within", 4, 4 * 25 * 2);
}

// A task runs in the region in which it was made, wherever and whenever it runs.
static void tasks(void) {
#pragma omp parallel
#pragma omp single
    {
        TRACKWAY_REGION_BEGIN("makes tasks");
        for (int i = 0; i < 20; i++)
#pragma omp task firstprivate(i) if (i % 5)
        {
            touch(1);
#pragma omp task
            touch(2);
        }
        TRACKWAY_REGION_END("makes tasks");
#pragma omp task
        touch(1000); // for nothing
        TRACKWAY_REGION_BEGIN("waits");
        touch(1);
#pragma omp taskwait
        touch(1);
        TRACKWAY_REGION_END("waits");
    }
    report("makes tasks", 1, 20 * (1 + 2));
    report("waits", 1, 2);

    TRACKWAY_REGION_BEGIN("taskloop");
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(3)
    for (int i = 0; i < 60; i++)
        touch(1);
    TRACKWAY_REGION_END("taskloop");
    report("taskloop", 1, 60);
}

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    loops();
    shares();
    nest();
    tasks();
#pragma omp parallel for
    for (int i = 0; i < 10; i++)
        touch(1000); // for nothing
    return 0;
}
