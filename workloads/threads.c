// Threads of equal work, as many as the second argument says: each counts random keys in a hash table of its own, and
// every so often adds what it found to a total that all share. The work of a thread doesn't depend on their number.
#include "random.h"
#include "size.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    FULL_OPERATIONS = 4000000,
    SMALL_OPERATIONS = 6000,
    THREADS = 4,
    MOST_THREADS = 256,
    KEYS = 3000,
    SLOTS = 4096,
    OPERATIONS_PER_TOTAL = 64,
};

struct slot {
    uint64_t key; // 0: free
    uint64_t count;
};

struct worker {
    pthread_t thread;
    size_t operations;
    uint64_t seed;
    uint64_t distinct;
    uint64_t checksum;
};

static _Alignas(128) atomic_ullong total;

static struct slot *slot_of(struct slot *slots, uint64_t key) {
    size_t i = (key * 0x9E3779B97F4A7C15u >> 32) % SLOTS;
    while (slots[i].key != 0 && slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &slots[i];
}

static uint64_t count_keys(struct slot *slots, uint64_t *random, size_t operations) {
    uint64_t distinct = 0;
    for (size_t i = 0; i < operations; i++) {
        uint64_t key = 1 + random_below(random, KEYS);
        struct slot *slot = slot_of(slots, key);
        distinct += slot->key == 0;
        slot->key = key;
        slot->count++;
    }
    return distinct;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct slot *slots = allocate(SLOTS, sizeof *slots);
    uint64_t random = worker->seed;
    for (size_t left = worker->operations; left > 0;) {
        size_t piece = left < OPERATIONS_PER_TOTAL ? left : OPERATIONS_PER_TOTAL;
        worker->distinct += count_keys(slots, &random, piece);
        atomic_fetch_add_explicit(&total, piece, memory_order_relaxed);
        left -= piece;
    }
    for (size_t i = 0; i < SLOTS; i++)
        worker->checksum += slots[i].key * slots[i].count;
    free(slots);
    return NULL;
}

static size_t thread_count(int argc, char **argv) {
    unsigned long long threads = argc > 2 ? strtoull(argv[2], NULL, 10) : THREADS;
    if (threads == 0 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: %s [small|OPERATIONS [THREADS]], at most %d threads\n", argv[0], MOST_THREADS);
        exit(2);
    }
    return (size_t)threads;
}

int main(int argc, char **argv) {
    size_t operations = size_argument(argc, argv, FULL_OPERATIONS, SMALL_OPERATIONS);
    size_t threads = thread_count(argc, argv);
    struct worker *workers = allocate(threads, sizeof *workers);
    for (size_t i = 0; i < threads; i++) {
        workers[i].operations = operations;
        workers[i].seed = 23 + i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "threads: no thread\n");
            return 1;
        }
    }
    uint64_t distinct = 0, checksum = 0;
    for (size_t i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        distinct += workers[i].distinct;
        checksum = checksum * 33 + workers[i].checksum;
    }
    printf("threads %zu operations %llu distinct %llu sum %016llx\n", threads, (unsigned long long)total,
           (unsigned long long)distinct, (unsigned long long)checksum);
    free(workers);
    return 0;
}
