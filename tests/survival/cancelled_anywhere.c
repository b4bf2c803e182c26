// Threads that are cancelled asynchronously, at any instruction, and whose clean-up computes.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 40, SIZE = 512 };

static unsigned table[SIZE];
static unsigned cleaned[8];
static pthread_barrier_t started;

static void clean_up(void *unused) {
    (void)unused;
    for (int i = 0; i < 8; i++)
        cleaned[i] += (unsigned)i;
}

static void *compute(void *unused) {
    pthread_cleanup_push(clean_up, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_barrier_wait(&started);
    for (unsigned sum = 0;;)
        for (unsigned i = 0; i < SIZE; i++) {
            unsigned other = (sum ^ i * 2654435761u) % SIZE;
            table[other] += table[i] + 1;
            sum += table[other];
        }
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_barrier_init(&started, NULL, 2);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, compute, NULL);
        pthread_barrier_wait(&started);
        usleep(300);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    printf("cleaned %u\n", cleaned[7]);
    return 0;
}
