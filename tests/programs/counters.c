// Threads that take turns, each with a counter of its own beside those of the others; with -DPAD every counter has a
// cache line. What `trackway whatif` predicts of the one is compared with the other. With -DWIDE a counter has three
// words.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { THREADS = 4, TURNS = 2000 };

struct counter {
    volatile long count;
#ifdef WIDE
    long first, last;
#endif
#ifdef PAD
    char padding[56];
#endif
};

static _Alignas(64) struct counter counters[THREADS];
static sem_t turns[THREADS];

static void *work(void *argument) {
    long number = (long)argument;
    for (int turn = 0; turn < TURNS; turn++) {
        sem_wait(&turns[number]);
        ++counters[number].count;
        sem_post(&turns[(number + 1) % THREADS]);
    }
    return NULL;
}

int main(void) {
    // A place that is known at compile time: without one, the trace doesn't know where the variable lies.
    counters[0].count = 0;
    pthread_t threads[THREADS];
    for (int number = 0; number < THREADS; number++)
        if (sem_init(&turns[number], 0, number == 0) != 0)
            return 1;
    for (long number = 0; number < THREADS; number++)
        if (pthread_create(&threads[number], NULL, work, (void *)number) != 0)
            return 1;
    long sum = 0;
    for (int number = 0; number < THREADS; number++) {
        pthread_join(threads[number], NULL);
        sum += counters[number].count;
    }
    printf("%ld\n", sum);
    return 0;
}
