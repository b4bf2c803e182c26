// Rules by return address, each found once.
#ifndef TRACKWAY_UNWIND_CACHE_H
#define TRACKWAY_UNWIND_CACHE_H

#include "ring.h"
#include "unwind_rule.h"

enum { ADDRESS_SIZE = 48, PLACE_BITS = 14 };

// An address is multiplied by an odd number, which loses nothing: the product's upper bits are the place in the table,
// the lower ones stand there with the rule. So an entry is one word, which no thread sees half written. 0: it is empty.
extern HIDDEN uint64_t __trackway_rules[1 << PLACE_BITS];
// Changes when objects were unloaded: what was known of addresses may be wrong.
extern HIDDEN uint32_t __trackway_unloaded;
// Called then; each library that uses the table defines it, since it may know more of addresses.
void forget_addresses(void);

static inline uint64_t spread(uintptr_t code) {
    return code * UINT64_C(0x9E3779B97F4A7C15) & ((UINT64_C(1) << ADDRESS_SIZE) - 1);
}

rule look_up_rule(uintptr_t code);

// The rule for finding the caller of the function that goes on at `code`. Any number will do.
static inline rule rule_for(uintptr_t code) {
    uint64_t word = spread(code), place = word >> (ADDRESS_SIZE - PLACE_BITS);
    uint64_t entry = __atomic_load_n(&__trackway_rules[place], __ATOMIC_RELAXED);
    bool is_known =
        (uint32_t)entry != NO_RULE && ((entry >> RULE_BITS ^ word) << (64 - ADDRESS_SIZE + PLACE_BITS)) == 0;
    if (__builtin_expect(!is_known || code >> ADDRESS_SIZE != 0, 0))
        return look_up_rule(code);
    return entry & ((1u << RULE_BITS) - 1);
}

#endif
