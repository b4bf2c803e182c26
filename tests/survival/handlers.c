// Installing handlers in every way, and what the program learns of those that were installed before. Handlers that
// fork, end their thread, or install others.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned calls[8];

static void first(int number) { calls[0] += (unsigned)number; }
static void second(int number) { calls[1] += (unsigned)number; }

static void with_information(int number, siginfo_t *info, void *context) {
    calls[2] += info->si_signo == number && context != NULL;
    calls[3] += (unsigned)info->si_value.sival_int;
}

static void that_replaces_itself(int number) {
    calls[4]++;
    signal(number, first);
}

static void that_forks(int number) {
    calls[5] += (unsigned)number;
    pid_t child = fork();
    if (child == 0) {
        calls[5]++;
        _exit((int)(calls[5] & 63));
    }
    int status = 0;
    waitpid(child, &status, 0);
    calls[6] += (unsigned)WEXITSTATUS(status);
}

static void that_ends_its_thread(int number) {
    calls[7] += (unsigned)number;
    pthread_exit(NULL);
}

static const char *name_of(void *handler) {
    struct {
        void *address;
        const char *name;
    } const known[] = {
        {(void *)first, "first"},
        {(void *)second, "second"},
        {(void *)with_information, "with_information"},
        {(void *)that_replaces_itself, "that_replaces_itself"},
        {(void *)SIG_DFL, "SIG_DFL"},
        {(void *)SIG_IGN, "SIG_IGN"},
        {(void *)SIG_ERR, "SIG_ERR"},
        {(void *)SIG_HOLD, "SIG_HOLD"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].address == handler)
            return known[i].name;
    return "another";
}

static void show(const char *what, void *handler) { printf("%s: %s\n", what, name_of(handler)); }

static void show_installed(int number) {
    struct sigaction now;
    sigaction(number, NULL, &now);
    printf("installed: %s, flags %x, blocks SIGHUP %d\n", name_of((void *)now.sa_handler),
           (unsigned)now.sa_flags & ~0x4000000u, sigismember(&now.sa_mask, SIGHUP));
}

static void by_sigaction(void) {
    struct sigaction action, former;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = with_information;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaddset(&action.sa_mask, SIGHUP);
    printf("%d ", sigaction(SIGUSR1, &action, &former));
    show("sigaction", (void *)former.sa_handler);
    show_installed(SIGUSR1);
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42});
    action.sa_handler = first;
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGUSR1, &action, &former);
    show("sigaction", (void *)former.sa_sigaction);
    raise(SIGUSR1);
    show_installed(SIGUSR1);
    sigaction(SIGUSR1, &former, &action); // what was told can be installed
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1});
    show_installed(SIGUSR1);
    int error = sigaction(SIGKILL, &former, NULL);
    printf("%d %d\n", error, errno == EINVAL);
    error = sigaction(1000, NULL, &former);
    printf("%d %d\n", error, errno == EINVAL);
    int (*volatile installer)(int, const struct sigaction *, struct sigaction *) = sigaction;
    action.sa_handler = second;
    action.sa_flags = 0;
    installer(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void by_signal(void) {
    show("signal", (void *)signal(SIGUSR2, first));
    show("signal", (void *)signal(SIGUSR2, SIG_IGN));
    raise(SIGUSR2);
    show("signal", (void *)signal(SIGUSR2, second));
    show("signal", (void *)signal(SIGKILL, second));
    raise(SIGUSR2);
    raise(SIGUSR2);
    show("sysv_signal", (void *)sysv_signal(SIGUSR2, first));
    raise(SIGUSR2);
    show_installed(SIGUSR2);
    show("sigset", (void *)sigset(SIGUSR2, second));
    show("sigset", (void *)sigset(SIGUSR2, SIG_HOLD));
    raise(SIGUSR2); // held
    show("sigset", (void *)sigset(SIGUSR2, first));
    show("signal", (void *)signal(SIGUSR2, that_replaces_itself));
    raise(SIGUSR2);
    raise(SIGUSR2);
    show_installed(SIGUSR2);
}

static void *end_by_handler(void *unused) {
    raise(SIGTERM);
    calls[7] = 0;
    return unused;
}

int main(void) {
    by_sigaction();
    by_signal();
    signal(SIGINT, that_forks);
    raise(SIGINT);
    signal(SIGTERM, that_ends_its_thread);
    for (int i = 0; i < 30; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_by_handler, NULL);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 8; i++)
        printf("%u ", calls[i]);
    printf("\n");
    return 0;
}
