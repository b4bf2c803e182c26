// Threads and forked processes that enter a region and leave it all the time. Prints how many stores to `inside` lie in
// it, and how many to `outside` don't.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <trackway.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 400, CHILDREN = 3 };

static volatile int inside[THREADS + CHILDREN][16], outside[THREADS + CHILDREN][16];

static void work(int number) {
    for (int round = 0; round < ROUNDS; round++) {
        outside[number][round % 16] = round;
        TRACKWAY_REGION_BEGIN("own");
        for (int i = 0; i < 10; i++)
            inside[number][i] = round;
        if (round % 3 == 0)
            continue;
        inside[number][15] = round;
        TRACKWAY_REGION_END("own");
        outside[number][round % 16] = -round;
    }
}

static void *run(void *number) {
    work((int)(long)number);
    return NULL;
}

int main(void) {
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            work(THREADS + i);
            _exit(0);
        }
    }
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CHILDREN; i++)
        waitpid(children[i], NULL, 0);
    int whole = ROUNDS - (ROUNDS + 2) / 3;
    printf("%d %d\n", (THREADS + CHILDREN) * (10 * ROUNDS + whole), (THREADS + CHILDREN) * (ROUNDS + whole));
    return 0;
}
