// Handlers that edit what they interrupted: they skip a faulting instruction, go to a place that its function provides
// for that, answer a trap in a register, leave for another function, and exchange tasks, wherever those are.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "registers.h"

enum { SIZE = 1024, FAULTS = 2000, RECOVERIES = 300 };

static unsigned table[SIZE], handled[32];

static unsigned mix(unsigned *numbers, unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        numbers[other] += numbers[i] + 1;
        sum += numbers[other];
    }
    return sum;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(number, &action, NULL);
}

static void set_alarm(long period_us) {
    struct itimerval each = {{0, period_us}, {0, period_us}};
    setitimer(ITIMER_REAL, &each, NULL);
}

#if defined(__x86_64__)

// ---- Faults that are repaired ----

static char *forbidden;
static greg_t *registers_of(void *context) { return ((ucontext_t *)context)->uc_mcontext.gregs; }

// `movl (%rdi), %eax` is two bytes long.
static unsigned read_or_skip(const void *place) {
    unsigned value = 7;
    __asm__ volatile(".byte 0x8b, 0x07" : "+a"(value) : "D"(place) : "memory");
    return value;
}

static void *landing;

static unsigned read_or_land(const void *place) {
    unsigned value = 0;
    __asm__ volatile("leaq 1f(%%rip), %%rcx\n\t"
                     "movq %%rcx, %1\n\t"
                     "movl (%%rdi), %%eax\n\t"
                     "jmp 2f\n\t"
                     ".skip 64, 0x90\n"
                     "1:\tmovl $11, %%eax\n"
                     "2:"
                     : "+a"(value), "=m"(landing)
                     : "D"(place)
                     : "rcx", "memory");
    return value;
}

static unsigned ask(unsigned question) {
    __asm__ volatile("int3" : "+a"(question) : : "memory");
    return question;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    greg_t *registers = registers_of(context);
    handled[number % 32] += info->si_addr == forbidden;
    if (landing)
        registers[REG_RIP] = (greg_t)landing;
    else
        registers[REG_RIP] += 2;
    landing = NULL;
}

static void on_trap(int number, siginfo_t *info, void *context) {
    handled[number % 32] += info->si_signo == number;
    registers_of(context)[REG_RAX] = registers_of(context)[REG_RAX] * 3 + 1;
}

static void repair(void) {
    unsigned sum = 0;
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    install(SIGSEGV, on_fault, SA_ONSTACK);
    install(SIGTRAP, on_trap, 0);
    for (unsigned i = 0; i < FAULTS; i++) {
        table[i % SIZE] += i;
        sum += read_or_skip(i % 3 ? (void *)&table[i % SIZE] : forbidden);
        table[(i + 1) % SIZE] += sum;
        sum += read_or_land(i % 5 ? (void *)&table[sum % SIZE] : forbidden);
        landing = NULL;
        sum += ask(table[i % SIZE]);
    }
    printf("repaired: %u, %u faults, %u traps\n", sum, handled[SIGSEGV], handled[SIGTRAP]);
}

#endif

// ---- Leaving for another function ----

static sigjmp_buf recovered;
static volatile sig_atomic_t recoveries, may_leave;

__attribute__((noreturn, noinline)) static void recover(void) {
    for (int i = 0; i < 32; i++)
        table[i] ^= (unsigned)i;
    recoveries++;
    siglongjmp(recovered, 1);
}

static void on_alarm_leave(int number, siginfo_t *info, void *context) {
    handled[number % 32] += info->si_signo == number;
    if (!may_leave)
        return;
    may_leave = 0;
    go_on_in(context, recover);
}

static void leave_often(int flags) {
    recoveries = 0;
    install(SIGALRM, on_alarm_leave, flags);
    set_alarm(150);
    sigsetjmp(recovered, 1);
    unsigned sum = (unsigned)recoveries;
    while (recoveries < RECOVERIES) {
        may_leave = 1;
        sum = mix(table, sum);
    }
    may_leave = 0;
    set_alarm(0);
    printf("recovered %d times\n", (int)recoveries);
}

int main(void) {
    static char stack[64 * 1024];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
#if defined(__x86_64__)
    repair();
#endif
    leave_often(0);
    leave_often(SA_ONSTACK);
    return 0;
}
