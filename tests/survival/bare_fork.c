// Forks by the bare system call, of which the C library and the runtime learn nothing.
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned table[512];

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < 512; i++) {
        unsigned other = (sum ^ i * 2654435761u) % 512;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

int main(void) {
    unsigned sum = mix(0), ended = 0;
    for (int i = 0; i < 5; i++) {
        pid_t child = (pid_t)syscall(SYS_fork);
        for (int round = 0; round < 300; round++)
            sum = mix(sum);
        if (child == 0)
            _exit((int)(sum % 100));
        int status = 0;
        waitpid(child, &status, 0);
        ended += (unsigned)WEXITSTATUS(status);
    }
    printf("sum %u, children %u\n", sum, ended);
    return 0;
}
