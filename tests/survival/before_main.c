// Code that runs before main and after it: the resolvers of indirect functions, preinitialisers, constructors and
// destructors by priority.
#include <stdio.h>

static int order[32], count, work[64];

static int compute(int number) {
    for (int i = 0; i < 64; i++)
        work[i] += i * number;
    order[count++ % 32] = number;
    return work[number % 64];
}

static int plain_sum(const int *numbers, int length) {
    int sum = 0;
    for (int i = 0; i < length; i++)
        sum += numbers[i];
    return sum;
}

static int wide_sum(const int *numbers, int length) {
    int sum = 0;
    for (int i = 0; i < length; i++)
        sum += numbers[i] & 0xFFFF;
    return sum;
}

static const char choices[4] = {0, 1, 0, 1};
static int resolved;

// Runs before relocations are complete, so it calls nobody.
static int (*resolve_sum(void))(const int *, int) {
    resolved++;
    return choices[resolved % 4] ? wide_sum : plain_sum;
}

int sum_of(const int *numbers, int length) __attribute__((ifunc("resolve_sum")));

__attribute__((constructor(101))) static void earliest(void) { compute(1); }
__attribute__((constructor(200))) static void early(void) { compute(2); }
__attribute__((constructor)) static void ordinary(void) { compute(3); }
__attribute__((destructor)) static void late(void) { printf("after main: %d\n", compute(5)); }
__attribute__((destructor(101))) static void latest(void) { printf("at last: %d, %d\n", compute(6), sum_of(order, 6)); }

static void preinitialise(void) { compute(7); }
__attribute__((section(".preinit_array"), used)) static void (*const preinitialiser)(void) = preinitialise;

int main(void) {
    compute(4);
    printf("order");
    for (int i = 0; i < count; i++)
        printf(" %d", order[i]);
    printf(", sum %d\n", sum_of(work, 64));
    return 0;
}
