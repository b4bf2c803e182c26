// A thread that writes a block of 4 MiB again and again, then another one that does so with a static table.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 19, TABLE = 1 << 16 };

static volatile uint64_t table[TABLE];

__attribute__((noinline)) static volatile uint64_t *make_block(void) {
    uint64_t *block = calloc(WORDS, sizeof *block);
    if (!block)
        exit(2);
    return block;
}

__attribute__((noinline)) static void fill(volatile uint64_t *words, long count, long rounds) {
    for (long round = 0; round < rounds; round++)
        for (long i = 0; i < count; i++)
            words[i] = (uint64_t)(i ^ round);
}

static void *fill_table(void *rounds) {
    fill(table, TABLE, WORDS / TABLE * *(long *)rounds);
    return NULL;
}

int main(int count, char **arguments) {
    long rounds = count > 1 ? 20 * atol(arguments[1]) : 20;
    volatile uint64_t *block = make_block();
    fill(block, WORDS, rounds);
    pthread_t thread;
    if (pthread_create(&thread, NULL, fill_table, &rounds))
        return 2;
    pthread_join(thread, NULL);
    printf("%d\n", (int)((block[3] ^ table[7]) & 1));
    return 0;
}
