// A scheduler that exchanges tasks by editing the context of its signal handler. With an argument, the handler runs on
// an alternate stack.
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#ifndef TASKS
#define TASKS 4
#endif

enum { SIZE = TASKS > 64 ? 256 : 1024, ROUNDS = 300, STACK = 64 * 1024 };

// Without segments, which getcontext doesn't tell.
#define REGISTERS ((REG_EFL + 1) * sizeof(greg_t))

struct task {
    ucontext_t context;
    struct _libc_fpstate vectors;
    unsigned numbers[SIZE];
    unsigned result;
};

static struct task tasks[TASKS];
static ucontext_t scheduler;
static volatile int running, finished, exchanges, handled;
static volatile char is_finished[TASKS];

static unsigned mix(unsigned *numbers, unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        numbers[other] += numbers[i] + 1;
        sum += numbers[other];
    }
    return sum;
}

// Takes the processor from one task and gives it to the next, which another run of this handler interrupted.
static void on_alarm(int number, siginfo_t *info, void *context) {
    ucontext_t *present = context;
    handled += info->si_signo == number;
    int next = running;
    do
        next = (next + 1) % TASKS;
    while (is_finished[next]);
    struct task *from = &tasks[running], *to = &tasks[next];
    memcpy(from->context.uc_mcontext.gregs, present->uc_mcontext.gregs, REGISTERS);
    from->vectors = *present->uc_mcontext.fpregs;
    memcpy(present->uc_mcontext.gregs, to->context.uc_mcontext.gregs, REGISTERS);
    memcpy(present->uc_mcontext.fpregs, &to->vectors, offsetof(struct _libc_fpstate, __glibc_reserved1));
    running = next;
    exchanges++;
}

static void install(int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_alarm;
    action.sa_flags = SA_SIGINFO | SA_RESTART | flags;
    sigaction(SIGALRM, &action, NULL);
}

static void set_alarm(long period_us) {
    struct itimerval each = {{0, period_us}, {0, period_us}};
    setitimer(ITIMER_REAL, &each, NULL);
}

static void block_alarm(int how) {
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(how, &alarm_only, NULL);
}

static void compute(int number) {
    struct task *own = &tasks[number];
    block_alarm(SIG_UNBLOCK);
    for (unsigned i = 0; i < ROUNDS; i++)
        own->result = mix(own->numbers, own->result + i);
    block_alarm(SIG_BLOCK);
    is_finished[number] = 1;
    if (++finished == TASKS)
        setcontext(&scheduler);
    block_alarm(SIG_UNBLOCK);
    for (;;)
        ; // until the next exchange
}

int main(int argc, char **argv) {
    (void)argv;
    static char stack[64 * 1024];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    block_alarm(SIG_BLOCK);
    for (int i = 0; i < TASKS; i++) {
        ucontext_t *context = &tasks[i].context;
        getcontext(context);
        context->uc_stack.ss_sp = malloc(STACK);
        context->uc_stack.ss_size = STACK;
        makecontext(context, (void (*)(void))compute, 1, i);
        context->uc_mcontext.gregs[REG_EFL] = 0x202; // interrupts are on
        tasks[i].result = (unsigned)i;
        tasks[i].vectors = *context->uc_mcontext.fpregs;
    }
    install(argc > 1 ? SA_ONSTACK : 0);
    set_alarm(300);
    volatile int begun = 0;
    getcontext(&scheduler);
    if (begun++ == 0)
        setcontext(&tasks[0].context);
    set_alarm(0);
    for (int i = 0; i < TASKS; i++)
        printf("task %d: %u\n", i, tasks[i].result);
    printf("exchanged: %s\n", exchanges >= TASKS - 1 && handled == exchanges ? "yes" : "no");
    return 0;
}
