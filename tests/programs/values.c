// Values of every width and kind, printed by the program itself where it stores them: `name value` a line.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum colour { RED = -1, GREEN = 7 };

struct flags {
    unsigned low : 3;
    int middle : 9;
    unsigned high : 20;
};

struct pair {
    int64_t first;
    double second;
};

static struct all {
    int8_t tiny;
    uint8_t byte;
    int16_t small;
    uint16_t word;
    int32_t number;
    uint32_t count;
    int64_t large;
    uint64_t size;
    __int128 huge;
    _BitInt(24) odd;
    _BitInt(100) odder;
    float single;
    double wide;
    long double extended;
    bool yes;
    char letter;
    enum colour shade;
    int *pointer;
    struct flags bits;
    struct pair two;
} all;

static atomic_int counter;
static _Atomic uint64_t ticket = 40;
static _Atomic double level = 0.5;
static float line[37], other[37];
static int chosen[37], amounts[37];

// Every value depends on what the compiler doesn't know.
__attribute__((noinline)) static void set(int n) {
    all.tiny = (int8_t)(-3 * n);
    all.byte = (uint8_t)(200 + n);
    all.small = (int16_t)(-1000 * n);
    all.word = (uint16_t)(60000 + n);
    all.number = -100000 * n;
    all.count = 4000000000u + (unsigned)n;
    all.large = -5000000000000 * n;
    all.size = 18000000000000000000u + (uint64_t)n;
    all.huge = -((__int128)1 << 100) * n;
    all.odd = (_BitInt(24))(-70000 * n);
    all.odder = -((_BitInt(100))1 << 90) * n;
    all.single = 0.1f * (float)n;
    all.wide = 1.0 / 3 * n;
    all.extended = 1.0L / 3 * n;
    all.yes = n > 0;
    all.letter = (char)('a' + n);
    all.shade = n > 1 ? GREEN : RED;
    all.pointer = &amounts[n];
    all.bits.low = (unsigned)n;
    all.bits.middle = -n;
    all.bits.high = 1000u * (unsigned)n;
    all.two = (struct pair){n, 2.5 * n};
}

static void show(void) {
    printf("tiny %d\nbyte %u\nsmall %d\nword %u\nnumber %d\ncount %u\n", all.tiny, all.byte, all.small, all.word,
           all.number, all.count);
    printf("large %ld\nsize %lu\nsingle %.9g\nwide %.17g\nextended %.21Lg\n", all.large, all.size, (double)all.single,
           all.wide, all.extended);
    printf("yes %s\nletter '%c'\nshade %d\npointer %p\nodd %d\n", all.yes ? "true" : "false", all.letter, all.shade,
           (void *)all.pointer, (int)all.odd);
    printf("huge %ld\nodder %ld\n", (long)(all.huge >> 64), (long)(all.odder >> 64));
}

__attribute__((noinline)) static int change(int n) {
    int before = atomic_fetch_add(&counter, n);
    atomic_fetch_sub_explicit(&counter, 1, memory_order_relaxed);
    atomic_store(&ticket, atomic_load(&ticket) + 2);
    uint64_t expected = 40;
    bool exchanged = atomic_compare_exchange_strong(&ticket, &expected, 7);
    exchanged |= atomic_compare_exchange_strong(&ticket, &expected, 9);
    level = level * 2;
    return before + exchanged;
}

// Loops that are vectorised, some with masks where the processor has them.
__attribute__((noinline)) static float vectors(int n) {
    for (int i = 0; i < n; i++) {
        line[i] = 0.5f * (float)i;
        amounts[i] = i * i - 5;
        chosen[i] = (i * 7) % n;
    }
    for (int i = 0; i < n; i++)
        if (amounts[i] > 0)
            other[i] = line[chosen[i]] + 1;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += other[i];
    return sum;
}

// Stores what doesn't change, and what a loop counts.
__attribute__((noinline)) static void fill(long *to, double *reals, long n, double real) {
    for (long i = 0; i < n; i++)
        to[i] = 3 * i - 7;
    for (long i = 0; i < n; i++)
        reals[i] = real;
}

__attribute__((noinline)) static struct pair copy(const struct pair *from) { return *from; }

typedef double quad __attribute__((vector_size(32)));
typedef short eight __attribute__((vector_size(16)));

__attribute__((noinline)) static double shuffle(quad *a, eight *b, int n) {
    *a = *a * 2 + (double)n;
    *b = *b + (short)n;
    (*b)[n] = -1;
    return (*a)[n] + (*b)[0];
}

int main(int argc, char **argv) {
    set(argc);
    show();
    set(2 * argc);
    int atomics = change(argc) + change(argc);
    long to[20];
    double reals[20];
    fill(to, reals, 10 * argc, 1.25 * argc);
    quad a = {1, 2, 3, 4};
    eight b = {1, 2, 3, 4, 5, 6, 7, 8};
    struct pair two = copy(&all.two);
    char text[32];
    memcpy(text, "copies have no values", 22);
    double sum = shuffle(&a, &b, argc) + vectors(36 * argc) + two.second + (double)to[3] + reals[4] + (double)two.first;
    printf("sum %g %d %s %d %u\n", sum, atomics, text, all.bits.middle, all.bits.high);
    return argv[argc] != NULL;
}
