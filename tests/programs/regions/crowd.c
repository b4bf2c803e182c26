// Hundreds of threads that come and go, each with work of its own in a region.
#include "regions.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { WAVES = 50, THREADS = 8 };

volatile long touched;

static void *work(void *amount) {
    TRACKWAY_REGION_BEGIN("crowd");
    touch((int)(intptr_t)amount);
    TRACKWAY_REGION_END("crowd");
    return NULL;
}

int main(void) {
    long sum = 0;
    for (int wave = 0; wave < WAVES; wave++) {
        pthread_t threads[THREADS];
        for (intptr_t i = 0; i < THREADS; i++) {
            intptr_t amount = wave * THREADS + i;
            pthread_create(&threads[i], NULL, work, (void *)amount);
            sum += amount;
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%d %ld\n", WAVES * THREADS, sum);
    return 0;
}
