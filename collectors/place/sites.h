// Finds the calls of allocators that are advised to go far.
#ifndef TRACKWAY_PLACE_SITES_H
#define TRACKWAY_PLACE_SITES_H

#include "plan.h"

#include <stdbool.h>

void begin_sites(const struct plan *plan);
// No other thread looks call sites up between the two.
void enter_sites(void);
void leave_sites(void);

// Whether the function with this frame was called by an advised call site.
bool is_advised_by_stack(const uintptr_t *frame);

enum verdict { NOT_SEEN = 0, NOT_ADVISED = 1, ADVISED = 2, BY_STACK = 3 };
enum { KNOWN_CALLERS = 4096, VERDICT_BITS = 2 };
// By hash of the return address: the address and the verdict on it in one word.
extern uint64_t __trackway_callers[KNOWN_CALLERS];

enum verdict judge(uintptr_t caller);

static inline __attribute__((always_inline)) bool is_advised(const uintptr_t *frame) {
    if (__builtin_expect(!__trackway_plan, 0))
        return false;
    uintptr_t caller = frame[1];
    uint64_t known =
        __atomic_load_n(&__trackway_callers[(caller >> 2 ^ caller >> 14) % KNOWN_CALLERS], __ATOMIC_RELAXED);
    enum verdict verdict = known >> VERDICT_BITS == caller ? (enum verdict)(known & BY_STACK) : judge(caller);
    return verdict == BY_STACK ? is_advised_by_stack(frame) : verdict == ADVISED;
}

#endif
