// Regions that are entered often, with work that varies by chance, and such that are entered seldom. Prints of each how
// often it was entered and what it touched.
#include "regions.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

// The entry that stumbles is one of those that tell what counting costs.
enum { ROUNDS = 100000, FEW = 10, MOST_WORK = 64, STUMBLE = 70 };

volatile long touched;

static uint32_t next_random(uint32_t *random) {
    *random = *random * 1664525 + 1013904223;
    return *random >> 16;
}

static long varying(uint32_t *random) {
    int work = (int)(next_random(random) % MOST_WORK);
    TRACKWAY_REGION_BEGIN("varying");
    touch(work);
    TRACKWAY_REGION_END("varying");
    return work;
}

// The same in a region within another, which does as much itself.
static long outer_and_inner(uint32_t *random) {
    int work = (int)(next_random(random) % MOST_WORK);
    TRACKWAY_REGION_BEGIN("outer");
    touch(work);
    TRACKWAY_REGION_BEGIN("inner");
    touch(work);
    TRACKWAY_REGION_END("inner");
    TRACKWAY_REGION_END("outer");
    return work;
}

// Once it takes as long as if the thread had lost its core.
static long stumbling(uint32_t *random, int round) {
    int work = (int)(next_random(random) % MOST_WORK);
    TRACKWAY_REGION_BEGIN("stumbling");
    touch(work);
    if (round == STUMBLE)
        usleep(50000);
    TRACKWAY_REGION_END("stumbling");
    return work;
}

static long few(int work) {
    TRACKWAY_REGION_BEGIN("few");
    touch(work);
    TRACKWAY_REGION_END("few");
    return work;
}

static long once(void) {
    TRACKWAY_REGION_BEGIN("once");
    touch(ROUNDS);
    TRACKWAY_REGION_END("once");
    return ROUNDS;
}

int main(void) {
    uint32_t random = 1;
    long of_varying = 0, of_outer = 0, of_stumbling = 0, of_few = 0;
    for (int i = 0; i < ROUNDS; i++)
        of_varying += varying(&random);
    for (int i = 0; i < ROUNDS; i++)
        of_outer += outer_and_inner(&random);
    for (int i = 0; i < ROUNDS; i++)
        of_stumbling += stumbling(&random, i);
    for (int i = 0; i < FEW; i++)
        of_few += few(i * i);
    long of_once = once();
    printf("varying %d %ld\nouter %d %ld\ninner %d %ld\n", ROUNDS, of_varying, ROUNDS, of_outer, ROUNDS, of_outer);
    printf("stumbling %d %ld\n", ROUNDS, of_stumbling);
    printf("few %d %ld\nonce 1 %ld\n", FEW, of_few, of_once);
    return 0;
}
