// Small enough for the caches of the tests, not for those of machines. Programs that need one change each, chosen by
// -DPART; with -DAFTER, as an engineer changed them. Both print the same.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t both;

#if PART <= 2
// However the system runs two threads, neither gets far ahead.
static inline void take_turns(int turn) {
    if (turn % 10 == 0)
        pthread_barrier_wait(&both);
}
#endif

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

#if PART == 1
// Threads write one counter: each its own.
enum { TURNS = 100000 };
static atomic_ulong total;
static void *count(void *none) {
    unsigned long own = 0;
    (void)none;
    for (int i = 0; i < TURNS; i++) {
        take_turns(i);
#ifdef AFTER
        *(volatile unsigned long *)&own += i & 3;
#else
        atomic_fetch_add_explicit(&total, i & 3, memory_order_relaxed);
#endif
    }
    atomic_fetch_add(&total, own);
    return NULL;
}
static uint64_t result(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total;
}

#elif PART == 2
// Threads write neighbouring elements: each in a line of its own.
#ifdef AFTER
enum { TURNS = 100000, APART = 8 };
#else
enum { TURNS = 100000, APART = 1 };
#endif
static volatile unsigned long own[2 * 8] __attribute__((aligned(64)));
static void *count(void *number) {
    for (int i = 0; i < TURNS; i++) {
        take_turns(i);
        own[(uintptr_t)number * APART] += i & 3;
    }
    return NULL;
}
static uint64_t result(void) {
    pthread_t threads[2];
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return own[0] + own[APART];
}

#elif PART == 3
// A sum down the columns: along the rows.
enum { SIZE = 1200 };
static uint64_t table[SIZE][SIZE], sums[SIZE];
static uint64_t result(void) {
    for (int round = 0; round < 2; round++) {
#ifdef AFTER
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++)
#else
        for (int j = 0; j < SIZE; j++)
            for (int i = 0; i < SIZE; i++)
#endif
                table[i][j] += sums[j] + i;
        sums[round] = round;
    }
    return table[SIZE - 1][SIZE - 1] + table[3][1];
}

#elif PART == 4
// A transposition: in blocks. Its loop is unrolled as the other one is, for prefetchers know strides by instruction.
enum { SIZE = 1008, BLOCK = 16 };
static uint64_t from[SIZE][SIZE], to[SIZE][SIZE];
static uint64_t result(void) {
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            from[i][j] = i ^ j;
#ifdef AFTER
    for (int i = 0; i < SIZE; i += BLOCK)
        for (int j = 0; j < SIZE; j += BLOCK)
            for (int k = i; k < i + BLOCK; k++)
#pragma clang loop unroll_count(4)
                for (int l = j; l < j + BLOCK; l++)
                    to[l][k] = from[k][l];
#else
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            to[j][i] = from[i][j];
#endif
    return to[5][SIZE - 1];
}

#elif PART == 5
// What row i needs stands below and to the left, so rows can't be walked before columns.
enum { SIZE = 1200 };
static uint64_t table[SIZE][SIZE];
static uint64_t result(void) {
    for (int j = 1; j < SIZE; j++)
        for (int i = 0; i + 1 < SIZE; i++)
            table[i][j] = table[i + 1][j - 1] + i;
    return table[3][SIZE - 1];
}

#elif PART == 6
// A list in random order: in the order of its nodes.
enum { COUNT = 1 << 16, ROUNDS = 4 };
struct node {
    struct node *next;
    uint64_t value, more[6];
};
static uint32_t order[COUNT];
static uint64_t result(void) {
    struct node *nodes = malloc(COUNT * sizeof *nodes);
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i;
    for (uint32_t i = COUNT - 1; i > 0; i--) {
        uint32_t other = next_random() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
#ifdef AFTER
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i;
#endif
    for (uint32_t i = 0; i < COUNT; i++) {
        nodes[order[i]].next = i + 1 < COUNT ? &nodes[order[i + 1]] : NULL;
        nodes[order[i]].value = i;
    }
    uint64_t sum = 0;
    for (volatile int round = 0; round < ROUNDS; round++)
        for (struct node *node = &nodes[order[0]]; node; node = node->next)
            sum += node->value;
    return sum;
}

#elif PART == 7
// Nodes that are allocated one by one, among strings: from a pool.
enum { COUNT = 1 << 16, ROUNDS = 4 };
struct node {
    struct node *next;
    uint64_t value;
};
static uint64_t result(void) {
    struct node *first = NULL;
#ifdef AFTER
    struct node *pool = malloc(COUNT * sizeof *pool);
#endif
    for (uint32_t i = 0; i < COUNT; i++) {
#ifdef AFTER
        struct node *node = &pool[i];
#else
        struct node *node = malloc(sizeof *node);
#endif
        volatile char *text = malloc(100);
        text[0] = 1;
        node->next = first;
        node->value = i;
        first = node;
    }
    uint64_t sum = 0;
    for (volatile int round = 0; round < ROUNDS; round++)
        for (struct node *node = first; node; node = node->next)
            sum += node->value;
    return sum;
}

#elif PART == 8
// A field that is written and never read. Without it the particles fill half of the second level: if they filled all of
// it, its misses would depend on where the system puts their pages.
enum { COUNT = 1 << 14, VISITS = 300000 };
struct particle {
    uint64_t place, speed;
#ifndef AFTER
    volatile uint64_t touched[6];
#endif
};
static struct particle particles[COUNT];
static uint64_t result(void) {
    uint64_t sum = 0;
    for (int i = 0; i < VISITS; i++) {
        struct particle *particle = &particles[next_random() % COUNT];
        particle->place += ++particle->speed;
        sum ^= particle->place;
#ifndef AFTER
        particle->touched[0] = i;
#endif
    }
    return sum;
}

#elif PART == 9
// A table of 64-bit numbers whose values fit 16 bits.
enum { COUNT = 1 << 17, LOOKUPS = 400000 };
#ifdef AFTER
typedef uint16_t entry;
#else
typedef uint64_t entry;
#endif
static entry table[COUNT];
static uint64_t result(void) {
    for (int i = 0; i < COUNT; i++)
        table[i] = i % 1000;
    uint64_t sum = 0;
    for (int i = 0; i < LOOKUPS; i++)
        sum += table[next_random() % COUNT];
    return sum;
}

#elif PART == 10
// A gather by indices in random order: sorted.
enum { COUNT = 1 << 18, ROUNDS = 3 };
static uint64_t values[COUNT];
static uint32_t order[COUNT];
static uint64_t result(void) {
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i, values[i] = i * 3;
    for (uint32_t i = COUNT - 1; i > 0; i--) {
        uint32_t other = next_random() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
#ifdef AFTER
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i;
#endif
    uint64_t sum = 0;
    for (volatile int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < COUNT; i++)
            sum += values[order[i]] ^ round;
    return sum;
}

#elif PART == 11
// Many look-ups at random: no order repeats, and nothing is to be moved.
enum { COUNT = 1 << 18, LOOKUPS = 400000 };
static uint64_t values[COUNT];
static uint64_t result(void) {
    uint64_t sum = 0;
    for (int i = 0; i < LOOKUPS; i++)
        sum += values[next_random() % COUNT];
    return sum;
}
#endif

int main(void) {
    pthread_barrier_init(&both, NULL, 2);
    printf("%llu %llu\n", (unsigned long long)result(), (unsigned long long)(next_random() & 0));
}
