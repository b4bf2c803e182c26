// Items of which a walk reads two of eight members: splitting them saves misses. With one of the following, something
// stands against a split, and `trackway layout` must not propose it:
// -DTAIL   each item has text of its own length after it
// -DSHORT  every other item is allocated without its last members
// -DHEADER the walk sees items and others by a type that has just their first members
// -DNESTED the same by their first member, a structure
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 12000, ROUNDS = 6 };

#if defined HEADER || defined NESTED
struct shape {
    long key, weight;
};
#endif

#ifdef NESTED
#define FIRST struct shape shape;
#define KEY shape.key
#define WEIGHT shape.weight
#else
#define FIRST long key, weight;
#define KEY key
#define WEIGHT weight
#endif

struct item {
    FIRST
    long a, b, c, d, e, f;
};

struct other {
    FIRST
    double z;
};

static struct item *items[COUNT];

static struct item *allocate(long i) {
    size_t size = sizeof(struct item);
#ifdef TAIL
    size += 1 + (size_t)i % 50;
#endif
#ifdef SHORT
    if (i % 2)
        size = offsetof(struct item, e);
#endif
    struct item *item = malloc(size);
    if (item == NULL)
        exit(1);
    item->KEY = i;
    item->WEIGHT = i % 7;
    item->a = item->b = item->c = item->d = 0;
#ifndef SHORT
    item->e = item->f = 0;
#endif
    return item;
}

#if defined HEADER || defined NESTED
typedef struct shape seen;
#else
typedef struct item seen;
#undef KEY
#undef WEIGHT
#define KEY key
#define WEIGHT weight
#endif

__attribute__((noinline)) static long value(const seen *one) { return one->key * one->weight; }

int main(void) {
    struct other other = {.z = 1};
    other.KEY = 2;
    other.WEIGHT = 3;
    long sum = value((const seen *)(void *)&other) + (long)other.z;
    for (long i = 0; i < COUNT; i++)
        items[i] = allocate(i);
    for (int round = 0; round < ROUNDS; round++)
        for (long i = 0; i < COUNT; i++)
            sum += value((const seen *)(void *)items[i]);
    printf("%ld\n", sum);
    return 0;
}
