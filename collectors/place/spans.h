// Free spans of a range of addresses, in order. Not for several threads at once.
#ifndef TRACKWAY_PLACE_SPANS_H
#define TRACKWAY_PLACE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_SPANS = 4096 };

struct span {
    uintptr_t begin, end;
};

struct spans {
    size_t count;
    struct span of[MOST_SPANS];
};

// The first free addresses at a multiple of `alignment`, or 0.
uintptr_t take_span(struct spans *spans, size_t length, size_t alignment);
// Whether just these were free.
bool take_span_at(struct spans *spans, uintptr_t begin, size_t length);
// If there are too many spans, the addresses stay unused.
void give_span(struct spans *spans, uintptr_t begin, size_t length);

#endif
