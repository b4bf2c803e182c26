// Each of many regions within each other one: more pairs than a thread has nodes.
#include "regions.h"

#include <stdio.h>

enum { REGIONS = 40 };

volatile long touched;

static void enter(int region, int within);

#define REGION(number)                                                                                                 \
    case number:                                                                                                       \
        TRACKWAY_REGION_BEGIN(#number);                                                                                \
        touch(1);                                                                                                      \
        if (within >= 0)                                                                                               \
            enter(within, -1);                                                                                         \
        TRACKWAY_REGION_END(#number);                                                                                  \
        break;
#define FIVE(tens, a, b, c, d, e) REGION(tens##a) REGION(tens##b) REGION(tens##c) REGION(tens##d) REGION(tens##e)

static void enter(int region, int within) {
    switch (region) {
        FIVE(, 0, 1, 2, 3, 4)
        FIVE(, 5, 6, 7, 8, 9)
        FIVE(1, 0, 1, 2, 3, 4)
        FIVE(1, 5, 6, 7, 8, 9)
        FIVE(2, 0, 1, 2, 3, 4)
        FIVE(2, 5, 6, 7, 8, 9)
        FIVE(3, 0, 1, 2, 3, 4)
        FIVE(3, 5, 6, 7, 8, 9)
    }
}

int main(void) {
    for (int outer = 0; outer < REGIONS; outer++)
        for (int inner = 0; inner < REGIONS; inner++)
            enter(outer, inner);
    printf("%d\n", 2 * REGIONS * REGIONS);
    return 0;
}
