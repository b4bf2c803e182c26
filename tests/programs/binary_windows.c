// Stores to cells one after the other, so that each gap in a recording shows: in the main thread, in two threads, or in
// a parent and its child. Prints where the cells lie. Arguments: what, and for how many milliseconds.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 1 << 12 };

static volatile uint32_t cells[2][CELLS];
static double end_s;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Some in a row by the same block, some by others, a system call now and then, and work in registers in between.
static void *fill(void *argument) {
    volatile uint32_t *own = argument;
    uint32_t random = 1;
    long done = 0;
    while (done % 64 != 0 || now_s() < end_s) {
        for (int i = 0; i < 1000; i++)
            random = random * 1664525 + 1013904223;
        if (random >> 31)
            own[done++ % CELLS] = 1;
        else
            for (int i = 0; i < 21; i++)
                own[done++ % CELLS] = 2;
        if (random >> 12 == 0)
            getppid();
    }
    return NULL;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    end_s = now_s() + (count > 2 ? atof(arguments[2]) * 1e-3 : 0);
    printf("%p %p %zu\n", (void *)cells[0], (void *)cells[1], sizeof cells[0]);
    fflush(stdout);
    pthread_t thread;
    if (strcmp(what, "threads") == 0 && pthread_create(&thread, NULL, fill, (void *)cells[1]) == 0) {
        fill((void *)cells[0]);
        pthread_join(thread, NULL);
    } else if (strcmp(what, "fork") == 0) {
        pid_t child = fork();
        fill((void *)cells[child == 0]);
        if (child == 0)
            _exit(3);
        int status = 0;
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    } else {
        fill((void *)cells[0]);
    }
    return 4;
}
