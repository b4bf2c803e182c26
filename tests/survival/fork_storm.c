// Processes fork while signals come, in the parent and in the child, at any time.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 512, FORKS = 60 };

static unsigned table[SIZE];
static volatile unsigned ticks[16];

static void on_alarm(int number) {
    for (int i = 0; i < 16; i++)
        ticks[i] += (unsigned)number;
}

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

static void start_timer(void) {
    struct itimerval each = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &each, NULL); // not inherited
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    start_timer();
    unsigned sum = 0, ended = 0;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            start_timer();
            for (int round = 0; round < 200; round++)
                sum = mix(sum);
            _exit(7);
        }
        for (int round = 0; round < 50; round++) {
            kill(child, SIGUSR1); // from its first instruction on
            sum = mix(sum);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ended += (unsigned)WEXITSTATUS(status);
    }
    printf("sum %u, ended %u\n", sum, ended);
    return 0;
}
