// Children of all kinds: fork (also from a thread, and twice), vfork that executes or exits, posix_spawn, system.
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 5000 };

extern char **environ;
static volatile int numbers[COUNT];
static int answer_pipe[2];

static long fill(int factor) {
    long sum = 0;
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = factor * i;
        sum += numbers[i];
    }
    return sum;
}

static int ended(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void answer(int factor) {
    long sum = fill(factor);
    if (write(answer_pipe[1], &sum, sizeof sum) != sizeof sum)
        abort();
}

static long answered(void) {
    long sum = 0;
    return read(answer_pipe[0], &sum, sizeof sum) == sizeof sum ? sum : -1;
}

// A child with a child of its own, which is killed.
static void *fork_twice(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            answer(3);
            raise(SIGKILL);
        }
        _exit(ended(grandchild) == 128 + SIGKILL && fill(4) > 0 ? 5 : 6);
    }
    printf("from a thread: %d, %ld\n", ended(child), answered());
    return unused;
}

int main(int argc, char **argv) {
    if (argc > 1) { // as another program
        fill(atoi(argv[1]));
        return atoi(argv[1]);
    }
    if (pipe(answer_pipe) != 0)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            answer(i);
            exit(0);
        }
    long total = 0;
    for (int i = 0; i < 20; i++)
        total += answered();
    while (wait(NULL) > 0)
        ;
    printf("forked: %ld\n", total);

    pthread_t thread;
    pthread_create(&thread, NULL, fork_twice, NULL);
    pthread_join(thread, NULL);

    pid_t child = vfork();
    if (child == 0) {
        fill(7);
        _exit(8);
    }
    printf("vfork: %d, left %d\n", ended(child), numbers[1]);
    child = vfork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "9", NULL);
        _exit(127);
    }
    printf("vfork and exec: %d\n", ended(child));

    char *arguments[] = {argv[0], "10", NULL};
    posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ);
    printf("spawned: %d\n", ended(child));
    char command[4096];
    snprintf(command, sizeof command, "'%s' 11", argv[0]);
    printf("system: %d\n", WEXITSTATUS(system(command)));
    printf("parent: %ld\n", fill(12));
    return 0;
}
