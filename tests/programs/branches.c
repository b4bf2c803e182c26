// Branches of known behaviour: how often each was executed and taken stands in the output, by the label of its line.
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5000, ROWS = 40, COLUMNS = 30 };

static volatile long left, right, sum;
static long table[ROWS][COLUMNS];
static long counts[8][2];

static unsigned random_bits(unsigned *state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 16;
}

__attribute__((noinline)) static void alternate(void) {
    for (int i = 0; i < ROUNDS; i++) {
        if (i & 1) // alternates
            left = left + 1;
        else
            right = right + 1;
    }
}

__attribute__((noinline)) static void choose_at_random(unsigned seed) {
    for (int i = 0; i < ROUNDS; i++) {
        unsigned bits = random_bits(&seed);
        if (bits % 4 == 0) { // random
            left = left + bits;
            ++counts[0][1];
        } else {
            right = right + bits;
            ++counts[0][0];
        }
    }
}

__attribute__((noinline)) static long leaf(long value) {
    if (value > 20) // leaf
        return left = value;
    return right = value + 1;
}

__attribute__((noinline)) static void call_some(void) {
    for (int i = 0; i < 100; i++) {
        if (i % 10 == 3) // calls
            sum = sum + leaf(i);
        right = right + 1;
    }
}

__attribute__((noinline)) static long descend(int depth) {
    left = left + depth;
    if (depth == 0) // recursion
        return 1;
    return descend(depth - 1) + descend(depth - 1);
}

__attribute__((noinline)) static void fill(int rows, int columns) {
    left = left + rows; // else one call would do
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) // inner
            table[row][column] = row ^ column;
}

static int compare(const void *one, const void *other) {
    long a = *(const long *)one, b = *(const long *)other;
    ++counts[1][a < b];
    if (a < b) // compare
        return left = -1, -1;
    right = 1;
    return a > b;
}

int main(int argc, char **argv) {
    alternate();
    choose_at_random(argc > 1 ? strtoul(argv[1], 0, 10) : 1);
    call_some();
    sum = sum + descend(8);
    for (int i = 0; i < 20; i++)
        fill(ROWS - argc + 1, COLUMNS);
    qsort(table[7], COLUMNS, sizeof(long), compare);
    printf("alternates %d %d\n", ROUNDS, ROUNDS / 2);
    printf("random %ld %ld\n", counts[0][0] + counts[0][1], counts[0][1]);
    printf("leaf 10 8\ncalls 100 10\nrecursion %d %d\n", (1 << 9) - 1, 1 << 8);
    printf("compare %ld %ld\n", counts[1][0] + counts[1][1], counts[1][1]);
    return 0;
}
