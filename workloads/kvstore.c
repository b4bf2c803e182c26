// A key-value store for several threads. Each thread owns a range of keys and shares nothing with the others, except
// that the statistics of the operations lie side by side: false sharing. With -DPADDED what a thread counts and what it
// is told has cache lines of its own.
#include "random.h"
#include "size.h"

#include <pthread.h>

enum { FULL_OPERATIONS = 3000000, SMALL_OPERATIONS = 6000, THREADS = 4, KEYS = 4096, SLOTS = 2 * KEYS };

#ifdef PADDED
#define THREAD_ALIGNMENT 128
#else
#define THREAD_ALIGNMENT 8
#endif

struct counters {
    _Alignas(THREAD_ALIGNMENT) uint64_t gets;
    uint64_t puts;
    uint64_t hits;
};

struct slot {
    uint64_t key; // 0: free
    uint64_t value;
};

struct worker {
    _Alignas(THREAD_ALIGNMENT) pthread_t thread;
    unsigned number;
    size_t operations;
    struct slot *slots;
    uint64_t checksum;
};

static struct counters statistics[THREADS];

static struct slot *slot_of(struct slot *slots, uint64_t key) {
    size_t i = (key * 0x9E3779B97F4A7C15u >> 32) % SLOTS;
    while (slots[i].key != 0 && slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &slots[i];
}

static void put(struct worker *worker, uint64_t key, uint64_t value) {
    struct slot *slot = slot_of(worker->slots, key);
    slot->key = key;
    slot->value = value;
    __atomic_fetch_add(&statistics[worker->number].puts, 1, __ATOMIC_RELAXED);
}

static uint64_t get(struct worker *worker, uint64_t key) {
    struct slot *slot = slot_of(worker->slots, key);
    __atomic_fetch_add(&statistics[worker->number].gets, 1, __ATOMIC_RELAXED);
    if (slot->key == 0)
        return 0;
    __atomic_fetch_add(&statistics[worker->number].hits, 1, __ATOMIC_RELAXED);
    return slot->value;
}

static void *serve(void *argument) {
    struct worker *worker = argument;
    uint64_t random = 17 + worker->number, checksum = 0;
    for (size_t i = 0; i < worker->operations; i++) {
        uint64_t key = 1 + random_below(&random, KEYS);
        if (i % 4 == 0)
            put(worker, key, i);
        else
            checksum = checksum * 5 + get(worker, key);
    }
    worker->checksum = checksum;
    return NULL;
}

int main(int argc, char **argv) {
    size_t operations = size_argument(argc, argv, FULL_OPERATIONS, SMALL_OPERATIONS);
    struct worker workers[THREADS] = {0};
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].operations = operations;
        workers[i].slots = allocate(SLOTS, sizeof(struct slot));
        if (pthread_create(&workers[i].thread, NULL, serve, &workers[i]) != 0) {
            fprintf(stderr, "kvstore: no thread\n");
            return 1;
        }
    }
    uint64_t gets = 0, puts = 0, hits = 0, checksum = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        gets += statistics[i].gets;
        puts += statistics[i].puts;
        hits += statistics[i].hits;
        checksum ^= workers[i].checksum;
        free(workers[i].slots);
    }
    printf("kvstore operations %zu gets %llu puts %llu hits %llu sum %016llx\n", operations, (unsigned long long)gets,
           (unsigned long long)puts, (unsigned long long)hits, (unsigned long long)checksum);
    return 0;
}
