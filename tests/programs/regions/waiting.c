// Counts in steps, and waits for a line before each but the last: `waiting ROUNDS...`, with rounds of each step.
#include <stdio.h>
#include <stdlib.h>
#include <trackway.h>

enum { LENGTH = 64 };

static volatile unsigned touched[LENGTH];

__attribute__((noinline)) static void step(int rounds) {
    for (int round = 0; round < rounds; round++) {
        TRACKWAY_REGION_BEGIN("round");
        for (int i = 0; i < LENGTH; i++)
            touched[i] = (unsigned)round;
        TRACKWAY_REGION_END("round");
    }
}

int main(int count, char **arguments) {
    TRACKWAY_REGION_BEGIN("all");
    for (int i = 1; i < count; i++) {
        step(atoi(arguments[i]));
        puts("done");
        fflush(stdout);
        if (i < count - 1)
            getchar();
    }
    TRACKWAY_REGION_END("all");
    return 0;
}
