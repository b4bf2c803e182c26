// A handler that records, installed by code that doesn't.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

void install_elsewhere(int number, void (*handler)(int)); // not recorded

static unsigned table[512], seen[8];

static void on_alarm(int number) {
    for (int i = 0; i < 8; i++)
        seen[i] += (unsigned)number;
}

int main(void) {
    struct itimerval each = {{0, 300}, {0, 300}};
    install_elsewhere(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &each, NULL);
    unsigned sum = 0;
    for (int round = 0; round < 3000; round++)
        for (unsigned i = 0; i < 512; i++) {
            unsigned other = (sum ^ i * 2654435761u) % 512;
            table[other] += table[i] + 1;
            sum += table[other];
        }
    printf("sum %u\n", sum);
    return 0;
}
