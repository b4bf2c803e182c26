// Recursion through two regions.
#include "regions.h"

#include <stdio.h>

volatile long touched;

static void pong(int depth);

static void ping(int depth) {
    TRACKWAY_REGION_BEGIN("ping");
    touch(1);
    if (depth > 0)
        pong(depth - 1);
    touch(1);
    TRACKWAY_REGION_END("ping");
}

static void pong(int depth) {
    TRACKWAY_REGION_BEGIN("pong");
    touch(2);
    if (depth > 0)
        ping(depth - 1);
    TRACKWAY_REGION_END("pong");
}

int main(void) {
    for (int depth = 0; depth < 8; depth++)
        ping(depth);
    puts("0 to 7 deep");
    return 0;
}
