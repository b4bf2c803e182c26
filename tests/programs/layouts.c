// An array of structures whose layout is chosen at compile time: what `trackway whatif` predicts of the plain program
// is compared with -DPAD (40 bytes after each item), -DALIGN (items at multiples of 32), -DLINE (`value` on a line of
// its own) and -DARRAYS (each member in an array of its own). Several threads, -DTHREADS=N, work on parts of the array.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 24000, ROUNDS = 4, LINE_BYTES = 64 };
#ifndef THREADS
#define THREADS 1
#endif

struct item {
#ifdef ALIGN
    _Alignas(32)
#endif
        long key;
    long next;
#ifdef LINE
    _Alignas(LINE_BYTES)
#endif
        long value;
#ifdef PAD
    char padding[40];
#endif
};

#ifdef ARRAYS
static long *keys, *nexts, *values;
#define KEY(i) keys[i]
#define NEXT(i) nexts[i]
#define VALUE(i) values[i]
#else
static struct item *items;
#define KEY(i) items[i].key
#define NEXT(i) items[i].next
#define VALUE(i) items[i].value
#endif

static void *allocate(size_t size) {
    void *memory = aligned_alloc(LINE_BYTES, (COUNT * size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
    if (memory == NULL)
        exit(1);
    return memory;
}

static void allocate_items(void) {
#ifdef ARRAYS
    keys = allocate(sizeof(long));
    nexts = allocate(sizeof(long));
    values = allocate(sizeof(long));
#else
    items = allocate(sizeof(struct item));
#endif
}

// Each item of a part leads to another one of it, and all are on one way round.
static void link_items(long first, long count) {
    for (long i = 0; i < count; i++) {
        KEY(first + i) = i;
        NEXT(first + i) = first + (i + 7919) % count;
        VALUE(first + i) = 0;
    }
}

// Reads all keys, then follows the way round and writes what it finds.
static void *work(void *argument) {
    long part = (long)argument, count = COUNT / THREADS, first = part * count, sum = 0;
    link_items(first, count);
    for (int round = 0; round < ROUNDS; round++) {
        for (long i = first; i < first + count; i++)
            sum += KEY(i);
        long at = first;
        for (long step = 0; step < count; step++) {
            VALUE(at) += sum;
            at = NEXT(at);
        }
    }
    return (void *)sum;
}

int main(void) {
    allocate_items();
    pthread_t threads[THREADS];
    for (long part = 1; part < THREADS; part++)
        if (pthread_create(&threads[part], NULL, work, (void *)part) != 0)
            return 1;
    long sum = (long)work((void *)0L);
    for (int part = 1; part < THREADS; part++) {
        void *result;
        pthread_join(threads[part], &result);
        sum += (long)result;
    }
    printf("%ld\n", sum);
    return 0;
}
