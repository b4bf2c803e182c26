// Handlers that don't return: they leave by siglongjmp, from the normal and from an alternate stack, from nested
// handlers, out of code that was interrupted anywhere, that raised the signal itself, and out of a faulting access.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { SIZE = 1024, ESCAPES = 200, STACK = 64 * 1024 };

static unsigned table[SIZE];
static char stack[STACK];
static sigjmp_buf escape;
static volatile sig_atomic_t may_escape, escapes, visits;
static unsigned handled[32];

static void on_alarm(int number) {
    for (int i = 0; i < 32; i++)
        handled[i] += (unsigned)number;
    if (may_escape) {
        may_escape = 0;
        siglongjmp(escape, 1);
    }
}

static void on_user_signal(int number) {
    visits++;
    handled[number % 32]++;
    if (visits % 3 == 0)
        raise(SIGALRM); // nested; may leave both
    if (visits % 2 == 0)
        siglongjmp(escape, 2);
}

static void on_fault(int number) {
    handled[number % 32]++;
    siglongjmp(escape, 3);
}

static unsigned mix(unsigned sum, unsigned depth) {
    unsigned own[16] = {sum};
    if (depth > 0)
        own[depth % 16] += mix(sum + 1, depth - 1);
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + own[i % 16];
        sum += table[other];
    }
    return sum;
}

static void install(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

// Left at whatever instruction the timer interrupts.
static void be_interrupted(void) {
    struct itimerval each = {{0, 150}, {0, 150}};
    setitimer(ITIMER_REAL, &each, NULL);
    if (sigsetjmp(escape, 1) != 0)
        escapes++;
    while (escapes < ESCAPES) {
        may_escape = 1;
        mix((unsigned)escapes, (unsigned)escapes % 40);
    }
    may_escape = 0;
}

static void raise_often(void) {
    volatile int left[4] = {0};
    for (volatile int i = 0; i < 5000; i++) {
        int how = sigsetjmp(escape, 1);
        left[how]++;
        if (how == 0) {
            may_escape = i % 5 == 0;
            raise(SIGUSR1);
        }
        mix((unsigned)i, 0);
    }
    may_escape = 0;
    printf("raised: %d returned at once, %d by the nested handler, %d by its own\n", left[0], left[1], left[2]);
}

static void fault_often(void) {
    char *forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int faults = 0;
    for (volatile int i = 0; i < 200; i++) {
        if (sigsetjmp(escape, 1) == 0)
            table[i % SIZE] += (unsigned)forbidden[i];
        else
            faults++;
    }
    printf("faults %d\n", faults);
}

int main(void) {
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    install(SIGUSR1, on_user_signal, 0);
    install(SIGSEGV, on_fault, SA_ONSTACK);
    install(SIGALRM, on_alarm, 0);
    raise_often();
    fault_often();
    be_interrupted();
    install(SIGALRM, on_alarm, SA_ONSTACK);
    escapes = 0;
    be_interrupted();
    printf("escapes %d\n", (int)escapes);
    return 0;
}
