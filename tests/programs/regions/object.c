// Built as a shared object, with a region of its own.
#include "regions.h"

void touch_in_object(int times) {
    touch(times);
    TRACKWAY_REGION_BEGIN("in object");
    touch(1);
    TRACKWAY_REGION_END("in object");
}
