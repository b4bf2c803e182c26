// Pairs of malloc and free below eight frames: prints wall and CPU nanoseconds of each. `allocation_pairs COUNT
// beside`: beside a thread that has allocated, too, and sleeps.
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *volatile kept;

__attribute__((noinline)) static int pairs(long count) {
    double wall = now(CLOCK_MONOTONIC), processor = now(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < count; i++) {
        kept = malloc(64);
        free(kept);
    }
    double pairs = (double)count;
    printf("%.2f ", (now(CLOCK_MONOTONIC) - wall) / pairs);
    return printf("%.2f\n", (now(CLOCK_THREAD_CPUTIME_ID) - processor) / pairs);
}

static void *volatile kept_by_other;
static volatile bool has_allocated;

static void *allocate_and_sleep(void *unused) {
    kept_by_other = malloc(64);
    has_allocated = true;
    pause();
    return unused;
}

static void begin_other_thread(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, allocate_and_sleep, NULL) != 0)
        exit(1);
    while (!has_allocated)
        ;
}

__attribute__((noinline)) static int descend(int depth, long count) {
    int result = depth > 0 ? descend(depth - 1, count) : pairs(count);
    __asm__ volatile("" ::: "memory");
    return result;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000000;
    if (argc > 2)
        begin_other_thread();
    return descend(6, count) < 0;
}
