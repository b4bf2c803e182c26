// Records so much, before and after it may read a line: `outlasting READS COUNT`.
#include <stdio.h>
#include <stdlib.h>

static long table[4096];

__attribute__((noinline)) static void work(long count) {
    unsigned long at = 1;
    for (long i = 0; i < count; i++) {
        at = at * 6364136223846793005ul + 1442695040888963407ul;
        table[at >> 52] += i;
    }
}

int main(int argc, char **argv) {
    char line[16];
    long count = argc > 2 ? atol(argv[2]) : 200000;
    work(count);
    if (argc > 1 && atoi(argv[1])) {
        puts("ready");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return 3;
    }
    work(count);
    puts("finished");
    return 7;
}
