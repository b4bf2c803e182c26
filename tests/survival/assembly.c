// Inline assembly between recorded accesses: its own accesses are not recorded, and `trackway info` counts them.
#include <stdio.h>

static unsigned long numbers[256];

static unsigned long exchange(unsigned long *place, unsigned long value) {
#if defined(__x86_64__)
    __asm__ volatile("xchgq %0, %1" : "+r"(value), "+m"(*place));
#else
    unsigned long former = *place;
    __asm__ volatile("str %1, %0" : "=m"(*place) : "r"(value));
    value = former;
#endif
    return value;
}

static void barrier(void) { __asm__ volatile("" ::: "memory"); }

int main(void) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 256; i++) {
        numbers[i] = i;
        barrier();
        sum += exchange(&numbers[i], i * i);
        sum += numbers[i];
    }
    printf("sum %lu\n", sum);
    return 0;
}
