// Threads compute while a timer and another thread interrupt them thousands of times a second. The handlers compute
// too; some run on an alternate stack, and some interrupt others. What is printed depends on no interruption.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 3, SIZE = 2048, ROUNDS = 200, LOG = 64, STACK = 64 * 1024, ENOUGH = 300 };

static unsigned tables[THREADS][SIZE];
static char stacks[THREADS][STACK];
static pthread_t threads[THREADS];
static pthread_barrier_t start;
static atomic_int storm_is_over;
static atomic_long handled[3];
static _Thread_local unsigned seen[LOG];

static void note(unsigned which) {
    for (unsigned i = 0; i < LOG; i++)
        seen[i] += i ^ which;
    handled[which]++;
}

static void on_alarm(int number) {
    int saved = errno;
    note(number == SIGALRM ? 0 : 2);
    errno = saved;
}

// On the alternate stack, and itself interrupted by on_alarm.
static void on_user_signal(int number, siginfo_t *info, void *context) {
    unsigned here = seen[number % LOG] + (info->si_pid == getpid() || info->si_code <= 0) + (context != NULL);
    for (unsigned i = 0; i < 10; i++)
        seen[(here + i) % LOG]++;
    note(1);
}

static unsigned mix(unsigned *table, unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

static void *compute(void *argument) {
    unsigned *table = argument, sum = 0;
    stack_t alternate = {.ss_sp = stacks[(table - tables[0]) / SIZE], .ss_size = STACK};
    sigaltstack(&alternate, NULL);
    pthread_barrier_wait(&start);
    for (int round = 0; round < ROUNDS; round++)
        sum = mix(table, sum);
    unsigned result = sum;
    while (!storm_is_over)
        sum = mix(table, sum);
    return (void *)(unsigned long)result;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

int main(void) {
    signal(SIGALRM, on_alarm);
    install(SIGUSR1, on_user_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART);
    install(SIGUSR2, (void (*)(int, siginfo_t *, void *))(void *)on_alarm, SA_NODEFER | SA_RESTART);
    struct itimerval each = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &each, NULL);
    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, tables[i]);
    pthread_barrier_wait(&start);
    for (unsigned i = 0; handled[0] < ENOUGH || handled[1] < ENOUGH || handled[2] < ENOUGH; i++) {
        pthread_kill(threads[i % THREADS], i & 8 ? SIGUSR2 : SIGUSR1);
        usleep(50);
    }
    storm_is_over = 1;
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        printf("sum %lu\n", (unsigned long)sum);
    }
    return 0;
}
