// More different signal handlers than the runtime can stand in for by a function each. They are exchanged while signals
// interrupt recording code, and each installation tells of the one before.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { HANDLERS = 320, SIZE = 512, LOG = 16 };

static unsigned table[SIZE], handled[HANDLERS][LOG];
static volatile sig_atomic_t alarms;

static void handle(int which, int number) {
    for (unsigned i = 0; i < LOG; i++)
        handled[which][i] += i * (unsigned)number;
    alarms += number == SIGALRM;
}

#define DEFINE(i)                                                                                                      \
    static void handler_##i(int number) { handle(0##i, number); }
#define NAME(i) handler_##i,
#define EACH_OF_8(M, i) M(i##0) M(i##1) M(i##2) M(i##3) M(i##4) M(i##5) M(i##6) M(i##7)
#define EACH_OF_64(M, i)                                                                                               \
    EACH_OF_8(M, i##0)                                                                                                 \
    EACH_OF_8(M, i##1)                                                                                                 \
    EACH_OF_8(M, i##2)                                                                                                 \
    EACH_OF_8(M, i##3)                                                                                                 \
    EACH_OF_8(M, i##4)                                                                                                 \
    EACH_OF_8(M, i##5)                                                                                                 \
    EACH_OF_8(M, i##6)                                                                                                 \
    EACH_OF_8(M, i##7)
#define EACH_OF_320(M) EACH_OF_64(M, 0) EACH_OF_64(M, 1) EACH_OF_64(M, 2) EACH_OF_64(M, 3) EACH_OF_64(M, 4)

EACH_OF_320(DEFINE)

static void (*const handlers[HANDLERS])(int) = {EACH_OF_320(NAME)};

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

// The handler of the same number among those that were ever told.
static int index_of(void (*handler)(int)) {
    for (int i = 0; i < HANDLERS; i++)
        if (handlers[i] == handler)
            return i;
    return handler == SIG_DFL ? -1 : handler == SIG_IGN ? -2 : -3;
}

static void exchange_all(void) {
    unsigned told = 0;
    for (int i = 0; i < HANDLERS; i++) {
        struct sigaction action, former;
        memset(&action, 0, sizeof action);
        action.sa_handler = handlers[i];
        action.sa_flags = SA_RESTART;
        sigaction(SIGUSR1, &action, &former);
        told = told * 31 + (unsigned)index_of(former.sa_handler);
        told = told * 31 + (unsigned)index_of(signal(SIGUSR2, handlers[HANDLERS - 1 - i]));
        raise(SIGUSR1);
        raise(SIGUSR2);
        sigaction(SIGUSR1, NULL, &former);
        told = told * 31 + (unsigned)index_of(former.sa_handler);
        if (sigaction(SIGKILL, &action, NULL) == 0 || signal(SIGSTOP, handlers[i]) != SIG_ERR)
            told++;
        raise(SIGUSR1);
    }
    printf("told %u\n", told);
    printf("last: %d\n", index_of(signal(SIGUSR1, SIG_IGN)));
    printf("then: %d\n", index_of(signal(SIGUSR1, SIG_DFL)));
}

// Handlers of several signals, none of which has a function of its own any more.
static void be_interrupted(void) {
    struct itimerval each = {{0, 150}, {0, 150}};
    signal(SIGALRM, handlers[HANDLERS - 1]);
    signal(SIGUSR1, handlers[HANDLERS - 2]);
    setitimer(ITIMER_REAL, &each, NULL);
    unsigned sum = 0;
    int rounds = 0;
    for (; alarms < 300; rounds++) {
        sum = mix(sum);
        if (rounds % 64 == 0)
            raise(SIGUSR1);
    }
    memset(&each, 0, sizeof each);
    setitimer(ITIMER_REAL, &each, NULL);
    printf("interrupted: %d\n", handled[HANDLERS - 2][1] >= (unsigned)(rounds / 64 * SIGUSR1));
}

int main(void) {
    exchange_all();
    unsigned sum = 0;
    for (int i = 0; i < HANDLERS; i++)
        for (unsigned k = 0; k < LOG; k++)
            sum = sum * 31 + handled[i][k];
    printf("handled %u\n", sum);
    be_interrupted();
    return 0;
}
