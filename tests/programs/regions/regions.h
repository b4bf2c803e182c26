// What the programs of regions share: the variable whose accesses the tests count.
#ifndef REGIONS_H
#define REGIONS_H

#include <trackway.h>

#ifdef __cplusplus
extern "C" {
#endif

extern volatile long touched;

// In another file, and in a shared object: they touch it so many times.
void touch_elsewhere(int times);
void touch_in_object(int times);

#ifdef __cplusplus
}
#endif

// So many writes of it.
static inline void touch(int times) {
    for (int i = 0; i < times; i++)
        touched = i;
}

#endif
