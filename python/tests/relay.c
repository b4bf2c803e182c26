// Threads that walk lists of their own, rest after each round, and add what they found to a sum that they share.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 4096, MOST_THREADS = 4 };

struct node {
    uint64_t key;
    uint64_t seldom[5];
    struct node *next;
};

static struct node nodes[MOST_THREADS][NODES];
static uint64_t own_sums[MOST_THREADS * 16];
static uint64_t shared_sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds = 1, rest_ms, threads = 3;

static void link_nodes(struct node *list, uint64_t seed) {
    for (int i = 0; i < NODES; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        list[i].key = seed;
        list[i].next = &list[seed % NODES];
    }
}

static void *work(void *number) {
    long thread = (long)number;
    link_nodes(nodes[thread], (uint64_t)thread * 0x9E3779B97F4A7C15u + 1);
    for (long round = 0; round < rounds; round++) {
        struct node *node = &nodes[thread][round % NODES];
        for (int step = 0; step < NODES; step++) {
            own_sums[thread * 16] += node->key;
            if (step % 64 == 0)
                node->seldom[step % 5]++;
            node = node->next;
        }
        pthread_mutex_lock(&lock);
        shared_sum += own_sums[thread * 16];
        pthread_mutex_unlock(&lock);
        if (rest_ms > 0)
            usleep((useconds_t)rest_ms * 1000);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        rounds = atol(arguments[1]);
    if (count > 2)
        rest_ms = atol(arguments[2]);
    puts("running");
    fflush(stdout);
    pthread_t others[MOST_THREADS];
    for (long thread = 1; thread < threads; thread++)
        pthread_create(&others[thread], NULL, work, (void *)thread);
    work((void *)0);
    for (long thread = 1; thread < threads; thread++)
        pthread_join(others[thread], NULL);
    printf("sum %llu\n", (unsigned long long)shared_sum);
    return 0;
}
