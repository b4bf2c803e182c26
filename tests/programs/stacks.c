// Two threads access a static array through pointers only, then one on their stacks. Prints where each lies.
#include <pthread.h>
#include <stdio.h>

enum { LENGTH = 512, THREADS = 2 };

static long shared[THREADS][LENGTH];
static long sums[THREADS];

__attribute__((noinline)) static void fill(volatile long *array, long from) {
    for (long i = 0; i < LENGTH; i++)
        array[i] = from + i;
}

__attribute__((noinline)) static long sum_of(volatile long *array) {
    long sum = 0;
    for (long i = 0; i < LENGTH; i++)
        sum += array[i];
    return sum;
}

static void *work(void *number) {
    long thread = (long)number;
    fill(shared[thread], thread);
    long own[LENGTH];
    fill(own, 1);
    sums[thread] = sum_of(shared[thread]) + sum_of(own);
    printf("%ld %p %p %zu\n", thread, (void *)shared[thread], (void *)own, sizeof own);
    return NULL;
}

int main(void) {
    pthread_t other;
    work((void *)0);
    pthread_create(&other, NULL, work, (void *)1);
    pthread_join(other, NULL);
    printf("%ld\n", sums[0] + sums[1]);
    return 0;
}
