// Code that the program writes while it runs, beside data of the same page, and changes again and again: functions that
// need every register, called from where all registers hold something.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 300, IMMEDIATE = 1 };

// mov $imm32, %eax; add (%rdi), %eax; ret
static const unsigned char code[] = {0xb8, 0, 0, 0, 0, 0x03, 0x07, 0xc3};

typedef uint32_t generated(const uint32_t *);

// Writes to the page with the code while all registers are taken, and says whether any of them has changed.
static uint32_t write_with_full_registers(uint32_t *counter) {
    uint32_t changed;
    __asm__ volatile("push %%rbp\n"
                     "mov $1, %%rax\n mov $2, %%rbx\n mov $3, %%rcx\n mov $4, %%rdx\n mov $5, %%rsi\n mov $6, %%rbp\n"
                     "mov $8, %%r8\n mov $9, %%r9\n mov $10, %%r10\n mov $11, %%r11\n mov $12, %%r12\n mov $13, %%r13\n"
                     "mov $14, %%r14\n mov $15, %%r15\n"
                     "addl $1, (%%rdi)\n"
                     "add %%rax, %%rbx\n add %%rbx, %%rcx\n add %%rcx, %%rdx\n add %%rdx, %%rsi\n add %%rsi, %%rbp\n"
                     "add %%rbp, %%r8\n add %%r8, %%r9\n add %%r9, %%r10\n add %%r10, %%r11\n add %%r11, %%r12\n"
                     "add %%r12, %%r13\n add %%r13, %%r14\n add %%r14, %%r15\n"
                     "pop %%rbp\n"
                     "sub $113, %%r15\n mov %%r15d, %0\n"
                     : "=a"(changed)
                     : "D"(counter)
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
                       "cc");
    return changed;
}

int main(void) {
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 77;
    uint32_t *counter = (uint32_t *)(page + 2048);
    uint64_t sum = 0, changed = 0;
    memcpy(page, code, sizeof code);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        memcpy(page + IMMEDIATE, &round, sizeof round);
        sum += ((generated *)(uintptr_t)page)(counter);
        changed += write_with_full_registers(counter);
    }
    printf("%u %lu %lu\n", *counter, (unsigned long)sum, (unsigned long)changed);
    return 0;
}
