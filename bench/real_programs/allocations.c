// A load for an allocator: threads keep many blocks of mixed sizes and replace them, and pass some to one another.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 15, MOST_THREADS = 8, PASSED = 256 };

typedef struct {
    pthread_mutex_t lock;
    unsigned char *blocks[PASSED];
    int count;
} Exchange;

typedef struct {
    uint32_t state;
    int operations;
    uint64_t sum;
    unsigned char **kept;
} Worker;

static Exchange exchange = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t next_number(Worker *worker) { return (worker->state = worker->state * 1664525u + 1013904223u) >> 8; }

static size_t next_size(Worker *worker) {
    uint32_t number = next_number(worker);
    if (number % 1000 == 0)
        return 1 + number % 100000;
    return number % 10 == 0 ? 1 + number % 4000 : 1 + number % 200;
}

// Gives a block away and gets another thread's, if there is one.
static unsigned char *pass(unsigned char *block) {
    pthread_mutex_lock(&exchange.lock);
    unsigned char *other = NULL;
    if (exchange.count == PASSED)
        other = exchange.blocks[--exchange.count];
    exchange.blocks[exchange.count++] = block;
    pthread_mutex_unlock(&exchange.lock);
    return other;
}

static void *work(void *argument) {
    Worker *worker = argument;
    worker->kept = calloc(KEPT, sizeof *worker->kept);
    for (int i = 0; i < worker->operations; i++) {
        unsigned char **place = &worker->kept[next_number(worker) % KEPT];
        uint32_t choice = next_number(worker) % 16;
        size_t size = next_size(worker);
        if (*place && choice == 0) {
            *place = realloc(*place, size);
            **place = (unsigned char)size;
            continue;
        }
        if (*place)
            worker->sum = worker->sum * 31 + **place;
        if (*place && choice == 1)
            free(pass(*place));
        else
            free(*place);
        *place = malloc(size);
        memset(*place, (int)(size & 255), size < 32 ? size : 32);
    }
    for (int i = 0; i < KEPT; i++)
        free(worker->kept[i]);
    free(worker->kept);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    Worker workers[MOST_THREADS];
    pthread_t running[MOST_THREADS];
    for (int i = 0; i < threads; i++) {
        workers[i] = (Worker){.state = (uint32_t)i + 1, .operations = atoi(argv[2])};
        pthread_create(&running[i], NULL, work, &workers[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(running[i], NULL);
        sum += workers[i].sum;
    }
    while (exchange.count > 0)
        free(exchange.blocks[--exchange.count]);
    printf("allocations %016llx\n", (unsigned long long)sum);
    return 0;
}
