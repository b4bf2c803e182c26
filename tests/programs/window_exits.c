// Threads that end within a region: by pthread_exit, and cancelled. Stores to `inside` lie in it, those to `outside`
// are made when no thread is in it any more.
#include <pthread.h>
#include <stdio.h>
#include <trackway.h>

enum { THREADS = 4, LENGTH = 16 };

static volatile int inside[THREADS + 1][LENGTH], outside[LENGTH];
static int is_inside;

__attribute__((noinline)) static void fill_inside(long number) {
    for (int i = 0; i < LENGTH; i++)
        inside[number][i] = i;
}

__attribute__((noinline)) static void fill_outside(void) {
    for (int i = 0; i < LENGTH; i++)
        outside[i] = i;
}

__attribute__((noinline)) static void leave_early(long number) {
    fill_inside(number);
    pthread_exit(NULL);
}

static void *exits(void *number) {
    TRACKWAY_REGION_BEGIN("own");
    leave_early((long)number);
    TRACKWAY_REGION_END("own");
    return NULL;
}

static void *is_cancelled(void *number) {
    TRACKWAY_REGION_BEGIN("own");
    fill_inside((long)number);
    __atomic_store_n(&is_inside, 1, __ATOMIC_RELEASE);
    for (;;)
        pthread_testcancel();
    TRACKWAY_REGION_END("own");
}

int main(void) {
    pthread_t threads[THREADS + 1];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, exits, (void *)i);
    pthread_create(&threads[THREADS], NULL, is_cancelled, (void *)(long)THREADS);
    while (!__atomic_load_n(&is_inside, __ATOMIC_ACQUIRE))
        ;
    pthread_cancel(threads[THREADS]);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 100; i++)
        fill_outside();
    printf("%d %d\n", (THREADS + 1) * LENGTH, outside[LENGTH - 1]);
    return 0;
}
