// Threads that come and go, a mutex, a condition, thread-local data, and one thread that is still running at the end.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { WAVES = 8, THREADS = 6, STEPS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static long shared_sum;
static int background_runs;
static _Thread_local long own_sum;

static void *add_up(void *argument) {
    long step = (long)argument;
    for (int i = 0; i < STEPS; i++) {
        own_sum += step;
        __atomic_fetch_add(&shared_sum, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_lock(&lock);
    __atomic_fetch_add(&shared_sum, own_sum, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static _Noreturn void *run_for_ever(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    background_runs = 1;
    pthread_cond_signal(&started);
    pthread_mutex_unlock(&lock);
    for (;;)
        pause();
}

int main(void) {
    pthread_t background, threads[THREADS];
    pthread_create(&background, NULL, run_for_ever, NULL);
    pthread_mutex_lock(&lock);
    while (!background_runs)
        pthread_cond_wait(&started, &lock);
    pthread_mutex_unlock(&lock);
    for (int wave = 0; wave < WAVES; wave++) {
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, add_up, (void *)(i + wave));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    printf("sum %ld\n", shared_sum);
    return 0;
}
