// measure FILE PROGRAM ARGUMENTS...: runs the program and writes its own wall and CPU time to the file, in nanoseconds,
// so that they can be told from those of a recorder beside it.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t of_timeval(struct timeval time) { return time.tv_sec * INT64_C(1000000000) + time.tv_usec * 1000; }

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE PROGRAM ARGUMENTS...\n");
        return 2;
    }
    int64_t start = now_ns();
    pid_t child = fork();
    if (child < 0) {
        perror("measure: fork");
        return 2;
    }
    if (child == 0) {
        execv(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) {
        perror("measure: wait4");
        return 2;
    }
    FILE *file = fopen(argv[1], "w");
    if (!file) {
        perror(argv[1]);
        return 2;
    }
    fprintf(file, "%lld %lld\n", (long long)(now_ns() - start),
            (long long)(of_timeval(usage.ru_utime) + of_timeval(usage.ru_stime)));
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
