// Moves bytes that can be counted by hand: by code of ours, by code of another compiler (coverage_plain.c), and by the
// C library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000
#define ROUNDS 100

long plain_sum(const long *array, long count);
long plain_call_back(const long *array, long count, long (*back)(const long *array, long count));

__attribute__((noinline)) static long own_sum(const long *array, long count) {
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += array[i];
    return sum;
}

int main(int argc, char **argv) {
    long *array = malloc(COUNT * sizeof *array);
    char *text = malloc(COUNT);
    memset(text, 'x', COUNT - 1);
    text[COUNT - 1] = 0;
    long sum = argc > 5;
    for (long i = 0; i < COUNT; i++)
        array[i] = i;
    for (int round = 0; round < ROUNDS; round++) {
        sum += own_sum(array, COUNT);
        sum += plain_sum(array, COUNT);                // of all of its line's bytes, none is recorded
        sum += plain_call_back(array, COUNT, own_sum); // half of it is own_sum's
        sum += (long)strlen(text);
        text[round] = 'y';
    }
    printf("%ld\n", sum);
    return argv[0][0] == 'x' ? 3 : 4;
}
