// Calls malloc with all kinds of numbers in the register that others use as frame pointer; prints how often.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void call_with(uintptr_t number) {
    __asm__ volatile("push %%rbp\n\t"
                     "mov %%rsp, %%rbx\n\t"
                     "and $-16, %%rsp\n\t"
                     "sub $128, %%rsp\n\t"
                     "mov %0, %%rbp\n\t"
                     "mov $40, %%edi\n\t"
                     "call malloc\n\t"
                     "mov %%rax, %%rdi\n\t"
                     "call free\n\t"
                     "mov %%rbx, %%rsp\n\t"
                     "pop %%rbp"
                     :
                     : "r"(number)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0); // it would allocate
    unsigned long calls = 0;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    for (int shift = 0; shift < 64; shift++)
        for (intptr_t near = -64; near <= 64; near += 8, calls += 2) {
            call_with(((uintptr_t)1 << shift) + (uintptr_t)near);
            call_with(here + ((uintptr_t)1 << shift) + (uintptr_t)near);
        }
    printf("%lu\n", calls);
    return 0;
}
