// A handler that makes the code that it interrupts call a function, and then go on. With an argument, the handler runs
// on an alternate stack.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { SIZE = 1024, ROUNDS = 3000, RED_ZONE = 128 };

static unsigned numbers[SIZE];
static volatile unsigned calls;

static __attribute__((noinline)) unsigned mix(unsigned *numbers, unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        numbers[other] += numbers[i] + 1;
        sum += numbers[other];
    }
    return sum;
}

__attribute__((used)) void work(void) {
    static unsigned table[256];
    for (int round = 0; round < 200; round++)
        for (unsigned i = 0; i < 256; i++)
            table[(i * 7) & 255] += i ^ calls;
    calls++;
}

// Calls work() as if nothing happened in between: it keeps all registers, and gives the red zone back.
__asm__(".text\n"
        "call_work:\n"
        "pushfq\n"
        "push %rax\n push %rcx\n push %rdx\n push %rbx\n push %rbp\n push %rsi\n push %rdi\n"
        "push %r8\n push %r9\n push %r10\n push %r11\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, %rbp\n sub $1024, %rsp\n and $-64, %rsp\n"
        "fxsave (%rsp)\n cld\n call work\n fxrstor (%rsp)\n"
        "mov %rbp, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %r11\n pop %r10\n pop %r9\n pop %r8\n"
        "pop %rdi\n pop %rsi\n pop %rbp\n pop %rbx\n pop %rdx\n pop %rcx\n pop %rax\n"
        "popfq\n"
        "ret $128\n");
extern char call_work[];

static void on_alarm(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t code = (uintptr_t)registers[REG_RIP];
    if (code - (uintptr_t)mix >= 4096 || code - (uintptr_t)work < 4096)
        return; // in a library, or in work() itself
    uintptr_t *stack = (uintptr_t *)(registers[REG_RSP] - RED_ZONE) - 1;
    *stack = code;
    registers[REG_RSP] = (greg_t)stack;
    registers[REG_RIP] = (greg_t)call_work;
}

static void set_alarm(long period_us) {
    struct itimerval each = {{0, period_us}, {0, period_us}};
    setitimer(ITIMER_REAL, &each, NULL);
}

int main(int argc, char **argv) {
    (void)argv;
    static char stack[64 * 1024];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_alarm;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (argc > 1 ? SA_ONSTACK : 0);
    sigaction(SIGALRM, &action, NULL);
    set_alarm(300);
    unsigned sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum = mix(numbers, sum + i);
    set_alarm(0);
    printf("%u, called: %s\n", sum, calls > 3 ? "yes" : "no");
    return 0;
}
