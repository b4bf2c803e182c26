// A program whose ring is overwritten while it is recorded, by a thread of another object: `scribbled SEED`. It works,
// allocates, and enters a region; whatever becomes of its recording, its output is its own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <trackway.h>
#include <unistd.h>

void *scribble(void *seed);

static long table[256];

__attribute__((noinline)) static long work(long count) {
    long sum = 0;
    TRACKWAY_REGION_BEGIN("work");
    for (long i = 0; i < count; i++) {
        table[i * 37 & 255] += i;
        sum += table[i * 7 & 255];
    }
    TRACKWAY_REGION_END("work");
    return sum;
}

int main(int argc, char **argv) {
    pthread_t scribbler;
    unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    alarm(5); // who overwrites the ring may wait for ever for a buffer: that is its own harm
    work(20000);
    if (argc > 1)
        pthread_create(&scribbler, NULL, scribble, (void *)seed);
    long sum = 0;
    for (int round = 0; round < 40; round++) {
        char *block = malloc(100 + (size_t)round);
        sum += work(2000) + block[0] * 0;
        free(block);
    }
    if (argc > 1)
        pthread_join(scribbler, NULL);
    printf("done %ld\n", sum);
    return 8;
}
