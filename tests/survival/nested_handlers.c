// More than a thousand handlers at once: nested ones of one thread, and those of threads that all wait in theirs.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 1100, THREADS = 40, DEPTH_OF_THREAD = 40, SIZE = 64 };

static _Thread_local unsigned table[SIZE];
static _Thread_local int depth, limit;
static pthread_barrier_t all_inside;
static int waits;

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

static void on_signal(int number) {
    unsigned sum = mix((unsigned)depth);
    if (++depth < limit)
        raise(number);
    else if (waits)
        pthread_barrier_wait(&all_inside);
    depth--;
    table[depth % SIZE] += mix(sum);
}

static void *nest(void *argument) {
    limit = (int)(long)argument;
    unsigned sum = mix(1);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR1);
        sum = mix(sum);
    }
    return (void *)(long)sum;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, NULL);
    printf("one thread: %ld\n", (long)nest((void *)DEPTH));
    waits = 1;
    pthread_barrier_init(&all_inside, NULL, THREADS);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, nest, (void *)(long)DEPTH_OF_THREAD);
    long total = 0;
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        total += (long)sum;
    }
    printf("many threads: %ld\n", total);
    return 0;
}
