// More threads at once than there are buffers, all of which have recorded something and compute on when all are there.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4120, SIZE = 256, STACK = 64 * 1024 };

static pthread_t threads[THREADS];
static unsigned tables[THREADS][SIZE];
static pthread_barrier_t all_there;

static void mix(unsigned *table, unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + i;
        sum += table[other];
    }
}

static void *compute(void *argument) {
    unsigned *table = argument;
    mix(table, 1);
    pthread_barrier_wait(&all_there);
    for (unsigned i = 0; i < 2; i++)
        mix(table, i);
    return NULL;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&all_there, NULL, THREADS);
    int started = 0;
    for (int i = 0; i < THREADS; i++)
        started += pthread_create(&threads[i], &attributes, compute, tables[i]) == 0;
    unsigned sum = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (int k = 0; k < SIZE; k++)
            sum = sum * 31 + tables[i][k];
    }
    printf("%d threads, sum %u\n", started, sum);
    return 0;
}
