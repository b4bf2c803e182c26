// Waiting for signals, and calls that signals interrupt: with and without SA_RESTART, sigsuspend, sigwait, signalfd,
// timers that start threads. Handlers keep errno, and calls tell what they did.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20, SIZE = 128 };

static unsigned table[SIZE], handled;
static int channel[2];
static volatile int notified;

static void on_signal(int number) {
    errno = 0;
    for (unsigned i = 0; i < SIZE; i++)
        table[i] += (unsigned)number * i;
    handled++;
    errno = EINTR;
}

static void install(int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
}

static void block(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(how, &set, NULL);
}

// Sends a signal while its parent is in a call, and a byte later.
static pid_t disturb(int with_byte) {
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep(20000);
        kill(parent, SIGUSR1);
        usleep(20000);
        char byte = 'b';
        if (with_byte && write(channel[1], &byte, 1) != 1)
            _exit(1);
        _exit(0);
    }
    return child;
}

static void read_disturbed(int flags) {
    install(flags);
    char byte = '-';
    pid_t child = disturb(flags & SA_RESTART);
    errno = 0;
    long got = read(channel[0], &byte, 1);
    printf("read: %ld %c, interrupted %d\n", got, byte, errno == EINTR && got < 0);
    waitpid(child, NULL, 0);
}

static void wait_in_poll(void) {
    install(SA_RESTART);
    struct pollfd nothing = {channel[0], POLLIN, 0};
    pid_t child = disturb(0);
    int got = poll(&nothing, 1, 5000);
    printf("poll: %d, interrupted %d\n", got, errno == EINTR);
    waitpid(child, NULL, 0);
}

static void suspend(void) {
    block(SIG_BLOCK, SIGUSR1);
    sigset_t none;
    sigemptyset(&none);
    int interrupted = 0;
    for (int i = 0; i < ROUNDS; i++) {
        raise(SIGUSR1);
        table[i] ^= 1;
        interrupted += sigsuspend(&none) == -1 && errno == EINTR;
    }
    printf("suspended: %d\n", interrupted);
}

static void fetch(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    block(SIG_BLOCK, SIGUSR2);
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC), sum = 0, number;
    for (int i = 0; i < ROUNDS; i++) {
        raise(SIGUSR1);
        struct signalfd_siginfo information;
        if (read(descriptor, &information, sizeof information) == sizeof information)
            sum += (int)information.ssi_signo;
        raise(SIGUSR2);
        sum += sigwait(&set, &number) == 0 ? number : 1000;
        table[i] += (unsigned)sum;
    }
    close(descriptor);
    printf("fetched: %d\n", sum);
    block(SIG_UNBLOCK, SIGUSR1);
    block(SIG_UNBLOCK, SIGUSR2);
}

static void on_timer(union sigval value) {
    for (unsigned i = 0; i < SIZE; i++)
        __atomic_fetch_add(&table[i], (unsigned)value.sival_int, __ATOMIC_RELAXED);
    notified = 1;
}

static void be_notified(void) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on_timer;
    event.sigev_value.sival_int = 5;
    timer_t timer;
    struct itimerspec once = {.it_value = {0, 1000000}};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &once, NULL);
    while (!notified)
        usleep(1000);
    timer_delete(timer);
    printf("notified\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pipe(channel) != 0)
        return 1;
    read_disturbed(0);
    read_disturbed(SA_RESTART);
    wait_in_poll();
    suspend();
    fetch();
    be_notified();
    unsigned sum = 0;
    for (int i = 0; i < SIZE; i++)
        sum = sum * 31 + table[i];
    printf("handled %u, sum %u\n", handled, sum);
    return 0;
}
