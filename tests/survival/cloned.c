// clone(2) without the C library's knowledge: a process of its own on another stack, one that shares memory while its
// parent waits, and the bare forks that libraries for containers make.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 512, STACK = 256 * 1024 };

static unsigned table[SIZE];

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

static int compute(void *argument) {
    unsigned sum = (unsigned)(long)argument;
    for (int i = 0; i < 30; i++)
        sum = mix(sum);
    return (int)(sum % 100);
}

static int ended(pid_t child) {
    int status = 0;
    waitpid(child, &status, __WALL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void) {
    char *stack = malloc(STACK);
    unsigned sum = mix(0);
    for (long i = 0; i < 4; i++) {
        pid_t child = clone(compute, stack + STACK, SIGCHLD, (void *)i);
        sum = mix(sum);
        printf("on a stack of its own: %d\n", ended(child));
        child = clone(compute, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)i);
        sum = mix(sum);
        printf("in the same memory: %d\n", ended(child));
        child = _Fork();
        if (child == 0)
            _exit(compute((void *)(i + 7)));
        sum = mix(sum);
        printf("forked: %d\n", ended(child));
        child = (pid_t)syscall(SYS_fork);
        if (child == 0)
            _exit(compute((void *)(i + 9)));
        sum = mix(sum);
        printf("forked by the system call: %d\n", ended(child));
        child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            _exit(compute((void *)(i + 11)));
        printf("cloned by the system call: %d\n", ended(child));
        fflush(stdout);
    }
    printf("sum %u\n", sum);
    return 0;
}
