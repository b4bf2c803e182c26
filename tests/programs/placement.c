// Two kinds of blocks from two call sites: `hot` is walked in random order nearly all the time, `cold` is filled once and
// summed up once. Prints a sum that says whether all bytes are as they should be.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOT_WORDS = 1 << 22, COLD_BLOCKS = 64, COLD_BYTES = 1 << 18, STEPS = 40 * 1000 * 1000 };

__attribute__((noinline)) static uint32_t *make_hot(void) {
    uint32_t *words = malloc(HOT_WORDS * sizeof *words);
    for (uint32_t i = 0; i < HOT_WORDS; i++)
        words[i] = i * 2654435761u;
    return words;
}

__attribute__((noinline)) static unsigned char *make_cold(int block) {
    unsigned char *bytes = malloc(COLD_BYTES / 2);
    memset(bytes, block, COLD_BYTES / 2);
    bytes = realloc(bytes, COLD_BYTES);
    memset(bytes + COLD_BYTES / 2, block + 1, COLD_BYTES / 2);
    return bytes;
}

__attribute__((noinline)) static uint32_t walk(uint32_t *words, long steps) {
    uint32_t at = 1;
    for (long i = 0; i < steps; i++)
        at = words[at % HOT_WORDS] + (uint32_t)i;
    return at;
}

int main(int count, char **arguments) {
    long steps = count > 1 ? strtol(arguments[1], NULL, 10) : STEPS;
    unsigned char *cold[COLD_BLOCKS];
    for (int i = 0; i < COLD_BLOCKS; i++)
        cold[i] = make_cold(i);
    uint32_t *hot = make_hot();
    uint64_t sum = walk(hot, steps);
    for (int i = 0; i < COLD_BLOCKS; i++) {
        for (int byte = 0; byte < COLD_BYTES; byte++)
            sum += cold[i][byte];
        free(cold[i]);
    }
    free(hot);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
