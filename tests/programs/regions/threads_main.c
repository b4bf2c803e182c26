// Has a shared object create threads in a region.
#include "regions.h"

volatile long touched;

void create_threads(void);

int main(void) {
    create_threads(); // for nothing
    TRACKWAY_REGION_BEGIN("main");
    touch(1);
    create_threads();
    TRACKWAY_REGION_END("main");
    return 0;
}
