// Flips the flag that makes the processor check alignment, as programs do that want to know which processor they run
// on.
#include <stdint.h>
#include <stdio.h>

enum { ALIGNMENT_CHECK = 1 << 18 };

static uint64_t exchange_flags(uint64_t flip) {
    uint64_t before, after;
    __asm__ volatile("sub $128, %%rsp\n" // the red zone
                     "pushfq\n"
                     "pop %0\n"
                     "mov %0, %1\n"
                     "xor %2, %1\n"
                     "push %1\n"
                     "popfq\n"
                     "pushfq\n"
                     "pop %1\n"
                     "cmp %0, %1\n" // so that a block begins while the flag is on
                     "je 1f\n"
                     "1: push %0\n"
                     "popfq\n"
                     "add $128, %%rsp\n"
                     : "=&r"(before), "=&r"(after)
                     : "r"(flip)
                     : "cc", "memory");
    return before ^ after;
}

int main(void) {
    int flipped = 0;
    for (int i = 0; i < 1000; i++) {
        if (i % 3 == 0)
            __asm__ volatile("nop"); // a block without accesses: records after it are aligned otherwise
        flipped += exchange_flags(ALIGNMENT_CHECK) == ALIGNMENT_CHECK;
    }
    printf("%d %d\n", flipped, exchange_flags(0) == 0);
    return 0;
}
