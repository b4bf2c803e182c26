// The code of records in instructions of x86-64.
#include "insert.h"

#include "drmgr.h"
#include "drreg.h"

enum { CODE_BYTES = 4096 };

static app_pc next_buffer_code; // calls next_buffer and goes on at SLOT_RETURN

static opnd_t field(const struct plan *plan, uint32_t offset, opnd_size_t size) {
    return opnd_create_base_disp(plan->cursor, DR_REG_NULL, 0, (int)offset, size);
}

opnd_t root_field(const struct plan *plan, uint32_t root) { return field(plan, ID_BYTES + root * ROOT_BYTES, OPSZ_8); }

void load_cursor(struct site at, const struct plan *plan) {
    insert(at, XINST_CREATE_load(at.context, opnd_create_reg(plan->cursor), slot_operand(at.context, SLOT_CURSOR)));
}

void insert_id(struct site at, const struct plan *plan) {
    insert(at, XINST_CREATE_store(at.context, field(plan, 0, OPSZ_4), OPND_CREATE_INT32((int)(plan->id << 8))));
}

// Asks for another buffer where the record may be the last that has room. Changes the flags.
static void insert_comparison(struct site at, const struct plan *plan) {
    instr_t *room = INSTR_CREATE_label(at.context), *back = INSTR_CREATE_label(at.context);
    opnd_t cursor = opnd_create_reg(plan->cursor);
    insert(at, INSTR_CREATE_cmp(at.context, cursor, slot_operand(at.context, SLOT_LIMIT)));
    insert(at, INSTR_CREATE_jcc(at.context, OP_jb, opnd_create_instr(room)));
    instrlist_insert_mov_instr_addr(at.context, back, NULL, cursor, at.block, at.where, NULL, NULL);
    insert(at, XINST_CREATE_store(at.context, slot_operand(at.context, SLOT_RETURN), cursor));
    insert(at, XINST_CREATE_jump(at.context, opnd_create_pc(next_buffer_code)));
    insert(at, back);
    insert(at, XINST_CREATE_load(at.context, cursor, slot_operand(at.context, SLOT_CURSOR)));
    insert(at, room);
}

static void reserve_flags(struct site at) {
    if (drreg_reserve_aflags(at.context, at.block, at.where) != DRREG_SUCCESS)
        DR_ASSERT_MSG(false, "the flags can't be kept");
}

static void release_flags(struct site at) {
    if (drreg_unreserve_aflags(at.context, at.block, at.where) != DRREG_SUCCESS)
        DR_ASSERT_MSG(false, "the flags can't be given back");
}

static void insert_check(struct site at, struct plan *plan) {
    reserve_flags(at);
    borrow_cursor(at, plan, 0);
    insert_comparison(at, plan);
    return_cursor(at, plan);
    release_flags(at);
    plan->is_checked = true;
}

// The check stands where it needn't keep the flags, if there is such a place.
void insert_check_if_cheap(struct site at, struct plan *plan, bool is_last) {
    bool dead = false;
    drreg_are_aflags_dead(at.context, at.where, &dead);
    if (!plan->is_checked && (dead || is_last))
        insert_check(at, plan);
}

// The near branch that is taken where this one isn't: the two stand next to each other.
static int opposite(int opcode) {
    int number = opcode >= OP_jo_short && opcode <= OP_jnle_short ? opcode - OP_jo_short : opcode - OP_jo;
    return OP_jo + (number ^ 1);
}

// The flags take this register.
uint32_t registers_never_held(void) { return bit_of(DR_REG_RAX); }

static void end_record_at(struct site at, const struct plan *plan, const struct exit *exit) {
    opnd_t cursor = opnd_create_reg(plan->cursor);
    insert(at, XINST_CREATE_store(at.context, field(plan, 0, OPSZ_4), OPND_CREATE_INT32((int)(exit->id << 8))));
    insert(at, INSTR_CREATE_lea(at.context, cursor, field(plan, ID_BYTES + exit->roots * ROOT_BYTES, OPSZ_lea)));
    insert(at, XINST_CREATE_store(at.context, slot_operand(at.context, SLOT_CURSOR), cursor));
    insert(at, XINST_CREATE_load(at.context, cursor, slot_operand(at.context, SLOT_HELD)));
}

// DynamoRIO allows only jumps in the midst of a block.
void insert_exit(struct site at, const struct plan *plan, const struct exit *exit) {
    instr_t *go_on = INSTR_CREATE_label(at.context);
    restore_all_but(at, plan->id ? bit_of(plan->cursor) : 0);
    insert(at, INSTR_CREATE_jcc(at.context, opposite(instr_get_opcode(at.where)), opnd_create_instr(go_on)));
    if (plan->id)
        end_record_at(at, plan, exit);
    instr_set_opcode(at.where, OP_jmp);
    instrlist_meta_postinsert(at.block, at.where, go_on);
}

// Masks of AVX-512 go by a register.
bool can_be_stored(reg_id_t reg) { return is_general(reg); }

void load_app_value(struct site at, reg_id_t reg, reg_id_t into) {
    insert(at, INSTR_CREATE_kmovq(at.context, opnd_create_reg(into), opnd_create_reg(reg)));
}

void insert_for_instruction(struct site at) { keep_alignment_unchecked(at.context, at.block, at.where); }

void move_cursor(struct site at, const struct plan *plan) {
    opnd_t cursor = opnd_create_reg(plan->cursor);
    insert(at, INSTR_CREATE_lea(at.context, cursor, field(plan, ID_BYTES + plan->roots * ROOT_BYTES, OPSZ_lea)));
    insert(at, XINST_CREATE_store(at.context, slot_operand(at.context, SLOT_CURSOR), cursor));
}

// ---- Blocks that repeat --------------------------------------------------------------------------------------------

static void jump_if_not(struct site at, instr_t *first, opnd_t one, opnd_t other) {
    insert(at, INSTR_CREATE_cmp(at.context, one, other));
    insert(at, INSTR_CREATE_jcc(at.context, OP_jne, opnd_create_instr(first)));
}

static opnd_t repeated_id_operand(struct site at) {
    opnd_t slot = slot_operand(at.context, SLOT_REPEATED_ID);
    opnd_set_size(&slot, OPSZ_4);
    return slot;
}

static void store_at_start(struct site at, const struct plan *plan, const struct store *store, reg_id_t scratch) {
    opnd_t value = opnd_create_reg(store->reg);
    if (store->kind == STORE_ADDRESS) {
        opnd_t sum = store->operand;
        opnd_set_size(&sum, OPSZ_lea);
        value = opnd_create_reg(scratch);
        insert(at, INSTR_CREATE_lea(at.context, value, sum));
    }
    insert(at, XINST_CREATE_store(at.context, root_field(plan, store->root), value));
}

void insert_repetition(struct site at, struct plan *plan) {
    instr_t *first = INSTR_CREATE_label(at.context), *done = INSTR_CREATE_label(at.context);
    opnd_t id = OPND_CREATE_INT32((int)plan->id);
    reserve_flags(at);
    reserve_cursor(at, plan, plan->mentioned);
    reg_id_t scratch = reserve_but(at, plan->mentioned);
    opnd_t cursor = opnd_create_reg(plan->cursor);
    jump_if_not(at, first, cursor, slot_operand(at.context, SLOT_REPEATED_CURSOR));
    jump_if_not(at, first, repeated_id_operand(at), id);
    insert(at, INSTR_CREATE_inc(at.context, opnd_create_base_disp(plan->cursor, DR_REG_NULL, 0, -ROOT_BYTES, OPSZ_8)));
    insert(at, XINST_CREATE_jump(at.context, opnd_create_instr(done)));
    insert(at, first);
    insert_id(at, plan);
    for (uint32_t i = 0; i < plan->stores; i++)
        store_at_start(at, plan, &plan->store[i], scratch);
    insert_comparison(at, plan);
    move_cursor(at, plan);
    insert(at, XINST_CREATE_store(at.context, slot_operand(at.context, SLOT_REPEATED_CURSOR), cursor));
    insert(at, XINST_CREATE_store(at.context, repeated_id_operand(at), id));
    insert(at, done);
    release(at, scratch);
    release(at, plan->cursor);
    release_flags(at);
}

void begin_code(void *context) {
    next_buffer_code = dr_nonheap_alloc(CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC);
    instrlist_t *code = instrlist_create(context);
    instr_t *end = XINST_CREATE_jump_mem(context, slot_operand(context, SLOT_RETURN));
    instrlist_meta_append(code, end);
    dr_insert_clean_call(context, code, end, (void *)next_buffer, false, 0);
    if (instrlist_encode(context, code, next_buffer_code, false) >= next_buffer_code + CODE_BYTES)
        DR_ASSERT(false);
    instrlist_clear_and_destroy(context, code);
    dr_memory_protect(next_buffer_code, CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
}
