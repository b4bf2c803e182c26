// Stores through the ways in which AArch64 addresses memory, into an area that is written to a file at the end: what
// differs there from how it began is what was stored.
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

enum { BYTES = 1 << 16, FILLED = 32768, ONES = 40960, END_OF_ONES = 49152, ROUNDS = 100, REPETITIONS = 2000 };

unsigned char area[BYTES] __attribute__((aligned(4096))) = {[ONES... END_OF_ONES - 1] = 0xff};

// `half` is taken as a signed half of a register, and `x2` as an unsigned one, too. `x28` is the register that
// DynamoRIO keeps for itself. The zeroed block lies among the ones.
__attribute__((noinline)) static void store_all_ways(unsigned char *at, uint64_t index, int32_t half) {
    register unsigned char *x1 __asm__("x1") = at;
    register uint64_t x2 __asm__("x2") = index;
    register int64_t x3 __asm__("x3") = half;
    __asm__ volatile("mov x4, #-1\n"
                     "str x4, [x1]\n"
                     "str x4, [x1, #16]!\n"
                     "str w4, [x1], #32\n"
                     "stp x4, x4, [x1, #8]\n"
                     "stp x4, x4, [x1, #48]!\n"
                     "stp x4, x4, [x1], #-16\n"
                     "strb w4, [x1, #5]\n"
                     "strh w4, [x1, x2]\n"
                     "str x4, [x1, x2, lsl #3]\n"
                     "str w4, [x1, w3, sxtw #2]\n"
                     "str x4, [x1, w2, uxtw]\n"
                     "add x5, x1, #1, lsl #12\n"
                     "str x4, [x5, #-8]\n"
                     "sub x5, x5, #256\n"
                     "str x4, [x5]\n"
                     "mov x6, x5\n"
                     "stur x4, [x6, #33]\n"
                     "stlr x4, [x6]\n"
                     "dup v0.2d, x4\n"
                     "str q0, [x6, #64]\n"
                     "mov v1.16b, v0.16b\n"
                     "stp q0, q1, [x6, #96]\n"
                     "st1 {v0.16b, v1.16b}, [x6], #32\n"
                     "str b0, [x6, #300]\n"
                     "mov x7, x28\n"
                     "mov x28, x6\n"
                     "str x4, [x28, #400]\n"
                     "str x4, [x28, #8]!\n"
                     "mov x28, x7\n"
                     "mov x7, sp\n"
                     "sub x5, x6, x7\n"
                     "str x4, [sp, x5]\n"
                     "1: ldaxr x8, [x6]\n"
                     "stlxr w9, x4, [x6]\n"
                     "cbnz w9, 1b\n"
                     "add x6, x1, #10, lsl #12\n"
                     "dc zva, x6\n"
                     "prfm pldl1keep, [x1]\n"
                     : "+r"(x1), "+r"(x2), "+r"(x3)
                     :
                     : "x4", "x5", "x6", "x7", "x8", "x9", "v0", "v1", "memory");
}

// A block that goes back to itself.
__attribute__((noinline)) static void fill(unsigned char *at, long count) {
    for (long i = 0; i < count; i++)
        __asm__ volatile("str %w1, [%0, %2, lsl #2]" ::"r"(at), "r"(-1), "r"(i) : "memory");
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    for (int i = 0; i < ROUNDS; i++)
        store_all_ways(area + 64 * i + 16, (uint64_t)(100 + i), -3 - i % 2);
    fill(area + FILLED, REPETITIONS / 2);
    fill(area + FILLED + 2 * REPETITIONS, REPETITIONS / 2);
    int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return write(file, area, BYTES) == BYTES ? 0 : 1;
}
