// Most accesses go by a pointer that no variable holds.
#include <stdint.h>
#include <stdio.h>

static char bytes[64];

static void write_hidden(uintptr_t hidden) {
    for (long i = 0; i < 200000; i++)
        __asm__ volatile("mov %0, %%rax; not %%rax; movb $1, (%%rax)" ::"r"(hidden) : "rax", "memory");
}

int main(void) {
    write_hidden(~(uintptr_t)bytes);
    printf("%d\n", bytes[0]);
    return 0;
}
