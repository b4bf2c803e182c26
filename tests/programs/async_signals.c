// A timer interrupts a computation that touches much memory; the handler touches memory too.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { SIZE = 4096, ROUNDS = 3000, HANDLER_SIZE = 64 };

static unsigned table[SIZE];
static volatile unsigned handler_table[HANDLER_SIZE];
static volatile sig_atomic_t ticks;

static void on_tick(int number) {
    (void)number;
    for (int i = 0; i < HANDLER_SIZE; i++)
        handler_table[i] += (unsigned)i;
    ticks++;
}

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

int main(void) {
    struct itimerval each = {{0, 500}, {0, 500}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    unsigned sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        sum = mix(sum);
    printf("sum %u, handler ran: %s\n", sum, ticks > 0 ? "yes" : "no");
    return 0;
}
