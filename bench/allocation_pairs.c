// Pairs of malloc and free below eight frames: prints wall and CPU nanoseconds of each.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

__attribute__((noinline)) static int descend(int depth, long count) {
    int result = depth > 0 ? descend(depth - 1, count) : pairs(count);
    __asm__ volatile("" ::: "memory");
    return result;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000000;
    return descend(6, count) < 0;
}
