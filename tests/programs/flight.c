// Ends in the way that it is told: `flight HOW ROUNDS THREADS PAUSE_US`. Which variables it accesses depends on numbers
// that look random and are the same in each run.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trackway.h>
#include <unistd.h>

enum { WORDS = 256, MOST_THREADS = 4 };

struct part {
    uint64_t one, two, three;
};

static struct part parts[MOST_THREADS][WORDS];
static long rounds, pause_us;
static volatile uint64_t *nowhere;

__attribute__((noinline)) static void touch_one(struct part *part, uint64_t by) { part->one += by; }
__attribute__((noinline)) static void touch_two(struct part *part, uint64_t by) { part->two ^= by; }
__attribute__((noinline)) static uint64_t touch_three(struct part *part) { return part->three++; }

static uint64_t work(long thread) {
    uint64_t seed = (uint64_t)thread + 1, sum = 0;
    for (long round = 0; round < rounds; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct part *part = &parts[thread][seed >> 56];
        if (seed >> 32 & 1)
            touch_one(part, seed);
        if (seed >> 33 & 1)
            touch_two(part, seed);
        else
            sum += touch_three(part);
        if (pause_us && round % 1024 == 0)
            usleep((useconds_t)pause_us);
    }
    return sum;
}

static void *other(void *number) {
    work((long)number);
    return NULL;
}

static int end(const char *how) {
    if (!strcmp(how, "fault"))
        nowhere[2] = 1;
    if (!strcmp(how, "freed")) {
        volatile uint64_t *block = malloc(1 << 20); // so large that free unmaps it
        block[1] = 1;
        free((void *)block);
        block[1] = (uint64_t)rounds;
    }
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "status"))
        return 7;
    if (!strcmp(how, "wait")) {
        getchar();
        return 7;
    }
    if (!strcmp(how, "ask"))
        trackway_snapshot();
    if (!strcmp(how, "slow"))
        trackway_slow(8000000);
    if (!strcmp(how, "fast"))
        trackway_slow(2000000);
    return 0;
}

int main(int count, char **arguments) {
    rounds = count > 2 ? atol(arguments[2]) : 1000;
    long threads = count > 3 ? atol(arguments[3]) : 1;
    pause_us = count > 4 ? atol(arguments[4]) : 0;
    pthread_t others[MOST_THREADS];
    for (long thread = 1; thread < threads; thread++)
        pthread_create(&others[thread], NULL, other, (void *)thread);
    uint64_t sum = work(0);
    for (long thread = 1; thread < threads; thread++)
        pthread_join(others[thread], NULL);
    printf("%llu\n", (unsigned long long)sum);
    fflush(stdout);
    return end(arguments[1]);
}
