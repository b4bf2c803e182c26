// Accesses at addresses that follow from nothing, so that the trace is as long as the program is: ROUNDS of STEPS
// stores in each of THREADS, with a rest after each round. Touches only static data, so the addresses are the same in
// every run at the same place.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 10000, ENTRIES = 1 << 16, MOST_THREADS = 4 };

static uint32_t table[MOST_THREADS][ENTRIES];
static long rounds = 1, rest_ms, threads = 1;

static void scatter(uint32_t *own, uint64_t seed) {
    for (long step = 0; step < STEPS; step++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        own[seed % ENTRIES] += (uint32_t)step;
    }
}

static void *work(void *number) {
    long thread = (long)number;
    for (long round = 0; round < rounds; round++) {
        scatter(table[thread], (uint64_t)(round * MOST_THREADS + thread + 1) * 0x9E3779B97F4A7C15u);
        if (rest_ms > 0)
            usleep((useconds_t)rest_ms * 1000);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        rounds = atol(arguments[1]);
    if (count > 2)
        rest_ms = atol(arguments[2]);
    if (count > 3)
        threads = atol(arguments[3]);
    puts("running");
    fflush(stdout);
    pthread_t others[MOST_THREADS];
    for (long thread = 1; thread < threads && thread < MOST_THREADS; thread++)
        pthread_create(&others[thread], NULL, work, (void *)thread);
    work((void *)0);
    for (long thread = 1; thread < threads && thread < MOST_THREADS; thread++)
        pthread_join(others[thread], NULL);
    uint32_t sum = 0;
    for (int thread = 0; thread < MOST_THREADS; thread++)
        for (int entry = 0; entry < ENTRIES; entry++)
            sum += table[thread][entry];
    printf("sum %u\n", sum);
    return 0;
}
