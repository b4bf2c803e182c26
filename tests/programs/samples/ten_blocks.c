// Ten blocks of one size, each from a call site of its own and read by the same code, the next one always 1.3 times as
// often as the one before; says how much processor time each of them took. The argument scales all.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 10, WORDS = 1 << 15, TURNS = 40 };

static uint64_t *filled(uint64_t *block) {
    if (!block)
        exit(2);
    for (long i = 0; i < WORDS; i++)
        block[i] = (uint64_t)i;
    return block;
}

#define SITE(number)                                                                                                   \
    __attribute__((noinline)) static uint64_t *make##number(void) { return filled(malloc(WORDS * sizeof(uint64_t))); }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)
SITE(8)
SITE(9)

__attribute__((noinline)) static uint64_t sum_of(const volatile uint64_t *block, long rounds) {
    uint64_t sum = 0;
    for (long round = 0; round < rounds; round++)
        for (long i = 0; i < WORDS; i++)
            sum += block[i];
    return sum;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    uint64_t *(*const makers[BLOCKS])(void) = {make0, make1, make2, make3, make4, make5, make6, make7, make8, make9};
    double scale = count > 1 ? atof(arguments[1]) : 1, seconds[BLOCKS] = {0};
    uint64_t *blocks[BLOCKS], sum = 0;
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = makers[i]();
    // In turns, so that what the machine does otherwise meets all of them.
    for (int turn = 0; turn < TURNS; turn++) {
        double rounds = scale;
        for (int i = 0; i < BLOCKS; i++, rounds *= 1.3) {
            double begin = now();
            sum += sum_of(blocks[i], (long)rounds);
            seconds[i] += now() - begin;
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        printf("make%d %.6f\n", i, seconds[i]);
    return (int)(sum & 1);
}
