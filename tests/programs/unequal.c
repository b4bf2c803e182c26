// Two threads that do unequal work in a region, again and again: unequal ENTRIES PAUSE_US. Ends with status 7.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef WITH_REGIONS
#include <trackway.h>
#else
#define TRACKWAY_REGION_BEGIN(name) ((void)0)
#define TRACKWAY_REGION_END(name) ((void)0)
#endif

#define LENGTH 4096

static long entries, pause_us;
static volatile double sink;

static __attribute__((noinline)) double sum(const double *values, long rounds) {
    double total = 0;
    for (long round = 0; round < rounds; round++)
        for (int i = 0; i < LENGTH; i++)
            total += values[i] * (double)round;
    return total;
}

static void rest(void) {
    struct timespec pause = {0, pause_us * 1000};
    nanosleep(&pause, NULL);
}

static void *work(void *argument) {
    const long *rounds = argument;
    double *values = calloc(LENGTH, sizeof *values);
    for (long entry = 0; entry < entries; entry++) {
        TRACKWAY_REGION_BEGIN("solve");
        sink = sum(values, *rounds);
        TRACKWAY_REGION_END("solve");
        rest();
    }
    free(values);
    return NULL;
}

int main(int count, char **arguments) {
    static long rounds[2] = {20, 80};
    pthread_t threads[2];
    if (count != 3)
        return 2;
    entries = atol(arguments[1]);
    pause_us = atol(arguments[2]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &rounds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("all is done");
    return 7;
}
