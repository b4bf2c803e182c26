/* Accesses of known reuse distances and patterns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1000, ROUNDS = 7, NODES = 5000, TURNS = 4, CELLS = 1 << 15, LOOKUPS = 30000 };

struct line {
    long first;
    long rest[7];
};

struct node {
    struct node *next;
    long value;
    long rest[6];
};

long table[CELLS];
static volatile long counter;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One line after the other, again and again: each is used again after all others. */
static long walk(struct line *lines) {
    long sum = 0;
    for (int i = 0; i < LINES; i++)
        lines[i].first = i;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < LINES; i++)
            sum += lines[i].first;
    return sum;
}

/* A cycle through all nodes in random order. */
static struct node *link_nodes(uint64_t *state) {
    struct node *nodes = aligned_alloc(64, NODES * sizeof *nodes);
    int order[NODES];
    for (int i = 0; i < NODES; i++)
        order[i] = i;
    for (int i = NODES - 1; i > 0; i--) {
        int other = (int)(next_random(state) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < NODES; i++) {
        nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
        nodes[order[i]].value = i;
    }
    return nodes;
}

static long follow(struct node *node) {
    long sum = 0;
    for (int step = 0; step < TURNS * NODES; step++) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}

static long look_up(uint64_t *state) {
    long sum = 0;
    for (int i = 0; i < LOOKUPS; i++)
        sum += table[next_random(state) % CELLS];
    return sum;
}

static void count(void) {
    for (int i = 0; i < 1000; i++)
        counter = i;
}

int main(void) {
    uint64_t state = 88172645463325252;
    struct line *lines = aligned_alloc(64, LINES * sizeof *lines);
    struct node *nodes = link_nodes(&state);
    long sum = walk(lines) + follow(nodes) + look_up(&state);
    count();
    printf("%ld\n", sum);
    free(lines);
    free(nodes);
    return 0;
}
