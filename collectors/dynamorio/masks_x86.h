// Masked moves of x86-64, and the registers of their masks.
#ifndef TRACKWAY_MASKS_X86_H
#define TRACKWAY_MASKS_X86_H

#include "planner.h"

// A flag of `mask` in struct told: the mask is an opmask register, else a vector register.
enum { OPMASK = 0x80 };

// The first source that is an opmask register; none.
reg_id_t mask_of(instr_t *instruction);
uint8_t simd_number(reg_id_t reg);
// Plans the accesses of an instruction with a mask: one for each lane that it takes. False: it has none that matters.
bool plan_masked(struct planner *planner, instr_t *instruction);

#endif
