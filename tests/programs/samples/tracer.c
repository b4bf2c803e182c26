// Traces its own child as a debugger does, and lets it run.
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sum;

int main(void) {
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        for (unsigned long i = 0; i < 400000000; i++)
            sum += i;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    ptrace(PTRACE_CONT, child, 0, 0);
    waitpid(child, &status, 0);
    printf("traced %d\n", WIFEXITED(status));
    return 0;
}
