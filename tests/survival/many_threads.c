// Threads by the thousand: joined, detached, cancelled, ended by pthread_exit; and data of threads whose destructors
// compute, also such that set the data again.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAVES = 60, THREADS = 50, STEPS = 100, KEYS = 4 };

static pthread_key_t keys[KEYS];
static long total, destroyed;
static sem_t detached;
static _Thread_local long own[STEPS];

static void destroy(void *data) {
    long *numbers = data;
    for (int i = 0; i < STEPS; i++)
        __atomic_fetch_add(&destroyed, numbers[i], __ATOMIC_RELAXED);
    if (numbers[0]-- > 1)
        pthread_setspecific(keys[numbers[1] % KEYS], numbers); // once more
    else
        free(numbers);
}

static long compute(long step) {
    long sum = 0;
    for (int i = 0; i < STEPS; i++) {
        own[i] += step * i;
        sum += own[i];
    }
    __atomic_fetch_add(&total, sum, __ATOMIC_RELAXED);
    return sum;
}

static void *work(void *argument) {
    long step = (long)argument;
    long *numbers = calloc(STEPS, sizeof *numbers);
    numbers[0] = 1 + step % 3;
    numbers[1] = step;
    pthread_setspecific(keys[step % KEYS], numbers);
    compute(step);
    if (step % 4 == 1)
        pthread_exit(argument);
    return argument;
}

static void *work_detached(void *argument) {
    compute((long)argument);
    sem_post(&detached);
    return NULL;
}

static void *be_cancelled(void *argument) {
    compute((long)argument);
    for (;;)
        pause();
}

int main(void) {
    pthread_t threads[THREADS];
    sem_init(&detached, 0, 0);
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&keys[i], destroy);
    for (int wave = 0; wave < WAVES; wave++) {
        void *(*start)(void *) = wave % 6 == 5 ? be_cancelled : wave % 6 == 4 ? work_detached : work;
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, start, (void *)(i + wave));
        for (int i = 0; i < THREADS; i++)
            if (start == work_detached) {
                pthread_detach(threads[i]);
                sem_wait(&detached);
            } else {
                if (start == be_cancelled)
                    pthread_cancel(threads[i]);
                pthread_join(threads[i], NULL);
            }
    }
    printf("destroyed %ld\n", destroyed);
    return 0;
}
