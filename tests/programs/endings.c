// Writes numbers into an array and, depending on its argument, ends in one of many ways.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 100000 };

static volatile int numbers[COUNT];

static void write_numbers(int factor) {
    for (int i = 0; i < COUNT; i++)
        numbers[i] = factor * i;
}

int main(int argc, char **argv) {
    const char *end = argc > 1 ? argv[1] : "return";
    write_numbers(3);
    if (strcmp(end, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(end, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "_exit") == 0)
        _exit(7);
    if (strcmp(end, "exit") == 0)
        exit(9);
    if (strcmp(end, "exec") == 0)
        execl(argv[0], argv[0], "return", (char *)NULL);
    if (strcmp(end, "hang") == 0) {
        puts("hanging");
        fflush(stdout);
        for (;;)
            pause();
    }
    printf("last %d\n", numbers[COUNT - 1]);
    return 0;
}
