// A handler forks and returns in both processes, into code that was interrupted anywhere.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 512, FORKS = 10 };

static unsigned table[SIZE];
static volatile sig_atomic_t forks, is_child;

static void on_alarm(int number) {
    table[number]++;
    table[number]--;
    if (is_child || forks == FORKS)
        return;
    forks++;
    if (fork() == 0)
        is_child = 1;
}

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += 1;
        sum += other;
    }
    return sum;
}

int main(void) {
    struct itimerval each = {{0, 500}, {0, 500}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &each, NULL);
    unsigned sum = 0;
    while (forks < FORKS && !is_child)
        mix(sum);
    for (int round = 0; round < 100; round++)
        sum = mix(sum);
    if (is_child)
        _exit(sum % 64);
    int ended = 0, status = 0;
    while (wait(&status) > 0)
        ended += WEXITSTATUS(status);
    printf("sum %u, children %d\n", sum, ended);
    return 0;
}
