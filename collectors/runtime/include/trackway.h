// For programs that are built with `trackway cc`; means nothing to any other compiler.
#ifndef TRACKWAY_H
#define TRACKWAY_H

// Before a function's definition: its accesses are not recorded.
#if defined(__clang__)
#define TRACKWAY_IGNORE __attribute__((annotate("trackway.ignore"), noinline))
#else
#define TRACKWAY_IGNORE
#endif

#endif
