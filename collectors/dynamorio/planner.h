// What the parts of the planner share.
#ifndef TRACKWAY_PLANNER_H
#define TRACKWAY_PLANNER_H

#include "plan.h"

enum { REGISTERS = DR_NUM_GPR_REGS, NO_VALUE = 0xffff };

// A register holds the value that another one, or it itself, had at some time, plus a constant.
struct held {
    uint32_t value;
    int64_t offset;
};

// What a root holds: the sum of up to two values and a constant. One of segment bases and the like is never shared.
struct root {
    uint32_t base, index; // values, or NO_VALUE
    int scale;
    int64_t offset;
};

struct planner {
    void *context;
    struct plan *plan;
    struct held held[REGISTERS];
    uint32_t next_value;
    struct root root[MOST_ROOTS];
    instr_t *start; // roots are stored there, in terms of the registers' first values; none: where they are needed
    bool failed;
};

struct address {
    int64_t constant;
    uint32_t terms;
    uint16_t root[TRACKWAY_MOST_TERMS];
    int8_t scale[TRACKWAY_MOST_TERMS];
};

// addresses.c
struct held *held_by(struct planner *planner, reg_id_t reg);
// Room of the definition, zeroed. Where there is none the planner has failed.
void *append(struct planner *planner, size_t length);
// The first of so many new roots.
uint16_t add_roots(struct planner *planner, uint32_t count);
struct store *add_store(struct planner *planner, instr_t *where, enum store_kind kind, uint16_t root);
// The root's value times `scale`; the root holds what is wanted plus an offset.
void add_term(struct address *address, uint16_t root, int scale, int64_t offset_of_root);
void add_register(struct planner *planner, instr_t *where, struct address *address, reg_id_t reg, int scale);
// Neither vectors nor parts of registers.
bool is_simple(opnd_t operand);
struct address address_of(struct planner *planner, instr_t *where, opnd_t operand);
struct trackway_access *add_access(struct planner *planner, bool writes, uint32_t size, const struct address *address);

// operands.c
// General registers that the instruction reads or writes, as bits.
uint32_t registers_mentioned(instr_t *instruction);
uint32_t size_of(instr_t *instruction, opnd_t operand);
typedef void take_operand(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *more);
// Calls `take` for each operand in memory, those that are read first.
void each_operand(struct planner *planner, instr_t *instruction, take_operand *take, void *more);
take_operand take_plain;

// instructions_*.c: one for each instruction set.
// Plans what an instruction accesses if that depends on more than its addresses. False: it doesn't.
bool plan_told(struct planner *planner, instr_t *instruction);
// Bytes that it accesses, where DynamoRIO's `size` isn't what the processor does.
uint32_t corrected_size(instr_t *instruction, uint32_t size);
// The factor of the index register; 0: the register isn't taken as it is.
int index_scale(opnd_t operand);
// An operand with this address.
opnd_t sum_of(reg_id_t base, reg_id_t index, int scale);
// TRACKWAY_FS_BASE or TRACKWAY_GS_BASE, if the address counts from there; else 0.
uint16_t segment_base_of(opnd_t operand);
// The block's repetition can be inserted: there are registers that it needs.
bool can_repeat(const struct plan *plan);
// What registers hold after the instruction.
void execute(struct planner *planner, instr_t *instruction);
void move_by(struct planner *planner, reg_id_t reg, int64_t distance);
// Makes the registers that the instruction sets unknown.
void forget_targets(struct planner *planner, instr_t *instruction);
// Code can go on after this branch within a block, and leave it if the branch is taken.
bool can_leave_within(instr_t *branch);
// A jump, which a block needn't execute if its target stands next.
bool can_be_left_out(instr_t *branch);
// What DynamoRIO treats in no way of its own.
bool may_be_added(instr_t *instruction);
// Beside those there is one for the cursor of a block that can be left in its midst.
bool leaves_a_register(uint32_t mentioned);
// The general register that is the instruction's only target, and wholly written; else none.
reg_id_t only_target(instr_t *instruction);

#endif
