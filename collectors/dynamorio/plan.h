// What a block has to store so that the addresses of all its accesses follow.
#ifndef TRACKWAY_PLAN_H
#define TRACKWAY_PLAN_H

#include "definitions.h"

#include "dr_api.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MOST_INSTRUCTIONS = 64, // of a block; DynamoRIO gets the same limit
    MOST_ROOTS = 256,
    MOST_EXITS = 12, // in the midst of a block
    ROOT_BYTES = 8,
    ID_BYTES = 4,
    MOST_DEFINITION_BYTES = 16384,
};

enum store_kind {
    STORE_REGISTER, // its value before the instruction
    STORE_ADDRESS,  // of the operand
    STORE_TOLD,     // a call works the roots out
};

// What a call needs to know of an instruction whose accesses depend on more than addresses.
struct told {
    uint16_t root; // the first one
    uint8_t form;  // enum trackway_access_form
    uint8_t lanes;
    uint8_t mask;        // of lanes: a register
    uint8_t index;       // a vector register of indices
    uint8_t index_bytes; // of one of them
    uint8_t scale;
    int32_t displacement;
    union {
        uint16_t opcode;
        struct {
            uint8_t mask_lanes; // lane i of memory is taken if one of bits i, i + lanes, … of so many is set
            uint8_t is_packed;  // the lanes that are taken follow each other without holes
        };
    };
    uint8_t base;
    uint8_t element_bytes;
};

struct store {
    instr_t *where;
    enum store_kind kind;
    reg_id_t reg;
    opnd_t operand;
    uint16_t root;
    struct told told;
};

// A conditional branch in the midst of a block: where it is taken, the record ends, and is that of a shorter block.
struct exit {
    instr_t *where;
    uint32_t id;
    uint32_t roots;
    uint32_t instructions;
    uint32_t definition_length;
};

struct plan {
    uint32_t id; // of the record; 0: the block can't be recorded
    uint32_t roots;
    uint32_t instructions;
    uint32_t exits;
    struct exit exit[MOST_EXITS];
    uint32_t stores;
    uint32_t next;      // of the stores, as the block's instructions are gone through
    uint32_t mentioned; // general registers, as bits
    // The block goes back to itself, and all roots move on by constants: one record stands for all its executions in a
    // row, and its last root counts them. All others are stored when the block begins.
    bool repeats;
    int64_t step[MOST_ROOTS];
    bool is_checked;   // the code that asks for room stands
    bool holds_cursor; // throughout the block, in a register that the block doesn't mention
    reg_id_t cursor;   // the register
    struct store store[MOST_ROOTS];
    uint32_t definition_length;
    _Alignas(8) unsigned char definition[MOST_DEFINITION_BYTES];
};

static inline bool is_general(reg_id_t reg) {
    return reg >= DR_REG_START_64 && reg < DR_REG_START_64 + DR_NUM_GPR_REGS;
}

// The register's bit in a set of registers.
static inline uint32_t bit_of(reg_id_t reg) { return is_general(reg) ? UINT32_C(1) << (reg - DR_REG_START_64) : 0; }

// process.c: whether recording is to be switched on or off.
bool has_windows(void);
// General registers that the operand names, as bits.
uint32_t registers_of(opnd_t operand);
// Plans a block. The definition lacks its id and object.
void plan_block(void *context, instrlist_t *block, struct plan *plan);
// The same for the first instructions of a block that repeats: their roots are the first ones of that block.
void plan_part_of_repeated(void *context, instrlist_t *block, struct plan *plan);

#endif
