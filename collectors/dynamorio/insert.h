// Inserts code; the functions of insert_*.c depend on the instruction set.
#ifndef TRACKWAY_INSERT_H
#define TRACKWAY_INSERT_H

#include "client.h"

#include "drvector.h"

struct site {
    void *context;
    instrlist_t *block;
    instr_t *where;
};

// insert.c
void insert(struct site at, instr_t *instruction);
reg_id_t reserve(struct site at, drvector_t *allowed);
void release(struct site at, reg_id_t reg);
// Reserves a register that isn't among these.
reg_id_t reserve_but(struct site at, uint32_t registers);
// Reserves a register for the cursor, plan->cursor, that isn't among these.
void reserve_cursor(struct site at, struct plan *plan, uint32_t registers_but);
// The same for a moment, if the block holds no cursor.
void borrow_cursor(struct site at, struct plan *plan, uint32_t registers_but);
void return_cursor(struct site at, const struct plan *plan);

// What the program has in all registers but these, and in the flags.
void restore_all_but(struct site at, uint32_t registers);

// insert_*.c
void begin_code(void *context);
// load_cursor loads the cursor from its slot into its register, in the form that suits the instruction set.
// move_cursor moves it past the record, and stores it to its slot.
void load_cursor(struct site at, const struct plan *plan);
void move_cursor(struct site at, const struct plan *plan);
opnd_t root_field(const struct plan *plan, uint32_t root);
void insert_id(struct site at, const struct plan *plan);
// Asks for another buffer where the record may be the last that has room, once for each block.
void insert_check_if_cheap(struct site at, struct plan *plan, bool is_last);
// True: the register has the program's value, and a store can take it.
bool can_be_stored(reg_id_t reg);
// The program's value of a register of which that isn't true.
void load_app_value(struct site at, reg_id_t reg, reg_id_t into);
// Registers that hold no cursor throughout a block that can be left in its midst.
uint32_t registers_never_held(void);
// Makes the branch a jump that is gone around unless it is taken, with the end of the record before it.
void insert_exit(struct site at, const struct plan *plan, const struct exit *exit);
// What the instruction needs beside records.
void insert_for_instruction(struct site at);
// All of a block whose executions in a row are one record.
void insert_repetition(struct site at, struct plan *plan);

#endif
