// Pairs of malloc and free, called from eight functions with frame pointers: prints nanoseconds for each.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *volatile kept;

__attribute__((noinline)) static double pairs(long count) {
    double start = now();
    for (long i = 0; i < count; i++) {
        kept = malloc(64);
        free(kept);
    }
    return (now() - start) / (double)count;
}

__attribute__((noinline)) static double descend(int depth, long count) {
    double result = depth > 0 ? descend(depth - 1, count) : pairs(count);
    __asm__ volatile("" ::: "memory");
    return result;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000000;
    printf("%.2f\n", descend(6, count));
    return 0;
}
