// How the caller of a function is found from where the function stands: a row of .eh_frame, reduced to what nearly all
// rows are.
#ifndef TRACKWAY_UNWIND_RULE_H
#define TRACKWAY_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

// The canonical frame address (CFA) is the caller's stack pointer; the return address stands below it.
enum rule_kind {
    NO_RULE = 0,
    FROM_STACK_POINTER, // the CFA is rsp + distance
    FROM_FRAME_POINTER, // the CFA is rbp + distance
    REALIGNED,      // the CFA stands at rbp - distance: the function aligned its stack; rbp points to the former one
    FRAME_POINTERS, // nothing describes the code: rbp is taken for a frame pointer
    OUTERMOST_FUNCTION, // nobody called it
    SIGNAL_RETURN,      // the registers of the interrupted code stand in a context of the kernel
    UNKNOWN_CALLER,     // the row is one that we don't evaluate
};

// 30 bits, so that a rule and the rest of its address are one word.
enum { KIND_BITS = 3, DISTANCE_BITS = 15, SAVED_BITS = 12, RULE_BITS = KIND_BITS + DISTANCE_BITS + SAVED_BITS };
enum { MOST_DISTANCE = (1 << DISTANCE_BITS) - 1 };
// The place of the caller's rbp: still in the register, lost, or else so many words below the CFA.
enum { SAVED_NOWHERE = 0, SAVED_LOST = (1 << SAVED_BITS) - 1 };

typedef uint32_t rule;

// The distance is in words.
static inline rule make_rule(enum rule_kind kind, uint32_t distance, uint32_t saved) {
    return kind | distance << KIND_BITS | saved << (KIND_BITS + DISTANCE_BITS);
}

static inline enum rule_kind kind_of(rule rule) { return (enum rule_kind)(rule & ((1 << KIND_BITS) - 1)); }
static inline uint32_t distance_of(rule rule) { return rule >> KIND_BITS & MOST_DISTANCE; }
static inline uint32_t saved_of(rule rule) { return rule >> (KIND_BITS + DISTANCE_BITS) & SAVED_LOST; }

#endif
