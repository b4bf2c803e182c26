// Regions of interest, where the compiler knows <trackway.h>; elsewhere they cost nothing. Each thread enters them
// itself, so that threads can be compared.
#ifndef WORKLOADS_REGION_H
#define WORKLOADS_REGION_H

#if __has_include(<trackway.h>)
#include <trackway.h>
#endif
#ifndef TRACKWAY_REGION_BEGIN
#define TRACKWAY_REGION_BEGIN(name)
#define TRACKWAY_REGION_END(name)
#endif

#endif
