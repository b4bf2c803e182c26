// Accesses that must be named without the compiler's help: parameters, locals, statics, fields, elements, expressions.
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 2000, ROUNDS = 20, BINS = 64 };

struct weight {
    double value;
    int uses;
};

struct node {
    struct node *next;
    struct node *pred;
    long key;
    struct weight weight;
    short marks[4];
};

static long counts[BINS];
long total;
static struct node *first;

__attribute__((noinline)) static void build(int count) {
    for (int i = 0; i < count; i++) {
        struct node *node = calloc(1, sizeof *node);
        if (!node)
            exit(1);
        node->next = first;
        node->pred = first;
        node->key = i * 7919L % count;
        node->weight.value = i;
        first = node;
    }
}

__attribute__((noinline)) static long walk(struct node *node) {
    long sum = 0;
    for (; node->pred; node = node->next) {
        sum += node->pred->key;
        node->weight.uses++;
        node->marks[node->key & 3]++;
    }
    return sum;
}

__attribute__((noinline)) static void count_keys(const struct node *node) {
    for (; node; node = node->next) {
        counts[node->key % BINS]++;
        total += node->key;
    }
}

__attribute__((noinline)) static double weigh(struct node *node, double scale) {
    double sum = 0;
    while (node) {
        sum += node->weight.value * scale;
        node = node->next;
    }
    return sum;
}

int main(void) {
    build(NODES);
    long sum = 0;
    double weight = 0;
    for (int round = 0; round < ROUNDS; round++) {
        sum += walk(first);
        count_keys(first);
        weight += weigh(first, 0.5);
    }
    printf("%ld %ld %.1f %ld\n", sum, total, weight, counts[3]);
    return 0;
}
