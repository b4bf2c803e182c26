// More than a thousand handlers at once: nested ones of one thread, and those of threads that all wait in theirs.
// With an argument, where no more memory may be mapped.
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

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

__attribute__((noinline)) static void forbid_more_memory(void) {
    volatile char *stack = alloca(7 << 20); // so that it needn't grow any more
    for (int i = 0; i < 7 << 20; i += 4096)
        stack[i] = 0;
    struct rlimit little = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &little);
}

int main(int argc, char **argv) {
    (void)argv;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, NULL);
    if (argc > 1)
        forbid_more_memory();
    printf("one thread: %ld\n", (long)nest((void *)DEPTH));
    if (argc > 1)
        return 0;
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
