// Each thread of a team writes as often as its number says.
#include <omp.h>
#include <trackway.h>

#ifndef ENTRIES
#define ENTRIES 5
#define WRITES 1000
#endif

static volatile long slots[64][8];

static void share_out(void) {
    int threads = omp_get_max_threads();
#pragma omp parallel for schedule(static, 1)
    for (int thread = 0; thread < threads; thread++)
        for (int i = 0; i < WRITES * (thread + 1); i++)
            slots[thread][0] = i;
}

int main(void) {
    for (int entry = 0; entry < ENTRIES; entry++) {
#ifndef NO_MARKS
        TRACKWAY_REGION_BEGIN("shares");
#endif
        share_out();
#ifndef NO_MARKS
        TRACKWAY_REGION_END("shares");
#endif
    }
    return 0;
}
