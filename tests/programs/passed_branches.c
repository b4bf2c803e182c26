// Code with branches that are rarely taken: of a thousand rounds each is taken in some, an instruction after several
// that aren't taken faults in all, and the handler looks at all registers before it mends what it needs.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ROUNDS = 1000 };

static char *page;
static long passed[4], wrong;

static void mend(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    const greg_t *held = ((ucontext_t *)context)->uc_mcontext.gregs;
    static const int kept[] = {REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RBX};
    for (unsigned i = 0; i < sizeof kept / sizeof kept[0]; i++)
        wrong += held[kept[i]] != (greg_t)(i + 100);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

// `round` takes the first branch if it is a multiple of 5, the second if one of 7, else the jump and the fault.
static void go(long round) {
    register long by_5 __asm__("rsi") = round % 5, by_7 __asm__("rdx") = round % 7;
    long sum = (long)passed;
    __asm__ volatile("mov $100, %%r8d; mov $101, %%r9d; mov $102, %%r10d; mov $103, %%r11d; mov $104, %%r12d\n"
                     "mov $105, %%r13d; mov $106, %%r14d; mov $107, %%r15d; mov $108, %%ebx\n"
                     "passed_0: addq $1, (%[sum])\n"
                     "test %[by_5], %[by_5]; branch_0: jz 1f\n"
                     "passed_1: addq $1, 8(%[sum])\n"
                     "bt $0, %[by_7]; test %[by_7], %[by_7]; branch_1: jz 1f; jmp 2f\n"
                     "nop\n"
                     "2: passed_2: addq $1, 16(%[sum])\n"
                     "faulting: incb (%[page])\n"
                     "passed_3: addq $1, 24(%[sum])\n"
                     "1: lea (%%r8, %%r9), %[sum]; add %%r10, %[sum]; add %%r11, %[sum]; add %%r12, %[sum]\n"
                     "add %%r13, %[sum]; add %%r14, %[sum]; add %%r15, %[sum]; add %%rbx, %[sum]\n"
                     : [sum] "+a"(sum)
                     : [by_5] "r"(by_5), [by_7] "r"(by_7), [page] "c"(page)
                     : "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rbx", "memory", "cc");
    wrong += sum != 936;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    for (long round = 0; round < ROUNDS; round++) {
        mprotect(page, 4096, PROT_NONE);
        go(round);
    }
    printf("%ld %ld %ld %ld %ld\n", passed[0], passed[1], passed[2], passed[3], wrong);
    return 0;
}
