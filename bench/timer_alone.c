// Runs a program under the clock event by which `trackway record --sample` samples it, without a buffer: the kernel
// takes its interrupts and stores nothing. What that costs no sampler by the clock can avoid.
//
//     timer_alone HERTZ PROGRAM ARGUMENTS
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long hertz = argc > 2 ? atol(argv[1]) : 0;
    if (hertz <= 0) {
        fprintf(stderr, "usage: %s HERTZ PROGRAM ARGUMENTS\n", argv[0]);
        return 2;
    }
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000000 / (unsigned long)hertz,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
        .exclude_hv = 1,
    };
    if (syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) < 0) {
        perror("perf_event_open");
        return 1;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
