// Threads that are cancelled asynchronously, at any instruction, and whose clean-up computes. With an argument they
// make a few accesses only, whose records those of the clean-up could cover.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 40, SIZE = 512 };

static unsigned table[SIZE];
static unsigned cleaned[8];
static unsigned rounds = ~0u, steps = SIZE;
static int computed;
static pthread_barrier_t started;

static void clean_up(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < SIZE; i++)
        cleaned[cleaned[i % 8] % 8] += i;
}

static void *compute(void *unused) {
    pthread_cleanup_push(clean_up, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_barrier_wait(&started);
    for (unsigned sum = 0, round = 0; round < rounds; round++)
        for (unsigned i = 0; i < steps; i++) {
            unsigned other = (sum ^ i * 2654435761u) % SIZE;
            table[other] += table[i] + 1;
            sum += table[other];
        }
    __atomic_store_n(&computed, 1, __ATOMIC_RELEASE);
    for (;;) // without a call
        __asm__ volatile("");
    pthread_cleanup_pop(0);
    return unused;
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        rounds = 1, steps = 3;
    pthread_barrier_init(&started, NULL, 2);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, compute, NULL);
        pthread_barrier_wait(&started);
        usleep(300);
        while (argc > 1 && !__atomic_exchange_n(&computed, 0, __ATOMIC_ACQUIRE))
            usleep(100);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    printf("cleaned %u\n", cleaned[0]);
    return 0;
}
