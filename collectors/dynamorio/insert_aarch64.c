// The code of records in instructions of AArch64. It leaves the flags alone.
#include "insert.h"

// In its register the cursor points after the id, so that roots lie at multiples of their size, which a store can
// reach.
static opnd_t field(const struct plan *plan, int offset, opnd_size_t size) {
    return opnd_create_base_disp(plan->cursor, DR_REG_NULL, 0, offset, size);
}

opnd_t root_field(const struct plan *plan, uint32_t root) { return field(plan, (int)(root * ROOT_BYTES), OPSZ_8); }

static void load_slot(struct site at, reg_id_t reg, enum slot slot) {
    insert(at, XINST_CREATE_load(at.context, opnd_create_reg(reg), slot_operand(at.context, slot)));
}

static void store_slot(struct site at, enum slot slot, reg_id_t reg) {
    insert(at, XINST_CREATE_store(at.context, slot_operand(at.context, slot), opnd_create_reg(reg)));
}

static void add(struct site at, reg_id_t reg, uint32_t constant) {
    insert(at, XINST_CREATE_add(at.context, opnd_create_reg(reg), OPND_CREATE_INT32((int)constant)));
}

static void subtract(struct site at, reg_id_t from, reg_id_t what) {
    insert(at, XINST_CREATE_sub(at.context, opnd_create_reg(from), opnd_create_reg(what)));
}

static void set(struct site at, reg_id_t reg, uint64_t constant) {
    instrlist_insert_mov_immed_ptrsz(at.context, (ptr_int_t)constant, opnd_create_reg(reg), at.block, at.where, NULL,
                                     NULL);
}

void load_cursor(struct site at, const struct plan *plan) {
    load_slot(at, plan->cursor, SLOT_CURSOR);
    add(at, plan->cursor, ID_BYTES);
}

void move_cursor(struct site at, const struct plan *plan) {
    add(at, plan->cursor, plan->roots * ROOT_BYTES);
    store_slot(at, SLOT_CURSOR, plan->cursor);
}

static void store_id(struct site at, const struct plan *plan, reg_id_t scratch) {
    set(at, scratch, plan->id << 8);
    insert(at, XINST_CREATE_store(at.context, field(plan, -ID_BYTES, OPSZ_4),
                                  opnd_create_reg(reg_resize_to_opsz(scratch, OPSZ_4))));
}

void insert_id(struct site at, const struct plan *plan) {
    reg_id_t scratch = reserve(at, NULL);
    store_id(at, plan, scratch);
    release(at, scratch);
}

static void insert_check(struct site at, const struct plan *plan, reg_id_t scratch) {
    enum { SIGN = 63 };
    instr_t *room = INSTR_CREATE_label(at.context);
    load_slot(at, scratch, SLOT_LIMIT);
    subtract(at, scratch, plan->cursor);
    insert(at, INSTR_CREATE_tbz(at.context, opnd_create_instr(room), opnd_create_reg(scratch), OPND_CREATE_INT(SIGN)));
    dr_insert_clean_call(at.context, at.block, at.where, (void *)next_buffer, false, 0);
    load_cursor(at, plan);
    insert(at, room);
}

void insert_check_if_cheap(struct site at, struct plan *plan, bool is_last) {
    if (!is_last)
        return;
    borrow_cursor(at, plan, 0);
    reg_id_t scratch = reserve(at, NULL);
    insert_check(at, plan, scratch);
    release(at, scratch);
    return_cursor(at, plan);
}

bool can_be_stored(reg_id_t reg) { return reg != DR_REG_XSP && reg != dr_get_stolen_reg(); }

void load_app_value(struct site at, reg_id_t reg, reg_id_t into) {
    if (reg == DR_REG_XSP)
        insert(at, XINST_CREATE_move(at.context, opnd_create_reg(into), opnd_create_reg(reg)));
    else
        dr_insert_get_stolen_reg_value(at.context, at.block, at.where, into);
}

void insert_for_instruction(struct site at) { (void)at; }

// ---- Blocks that repeat --------------------------------------------------------------------------------------------

static void jump_if_not_zero(struct site at, reg_id_t reg, instr_t *target) {
    insert(at, INSTR_CREATE_cbnz(at.context, opnd_create_instr(target), opnd_create_reg(reg)));
}

// Goes to `first` unless the last record is one of this block.
static void compare_last(struct site at, const struct plan *plan, reg_id_t one, reg_id_t other, instr_t *first) {
    load_slot(at, one, SLOT_REPEATED_CURSOR);
    add(at, one, ID_BYTES);
    subtract(at, one, plan->cursor);
    jump_if_not_zero(at, one, first);
    load_slot(at, one, SLOT_REPEATED_ID);
    set(at, other, plan->id);
    subtract(at, one, other);
    jump_if_not_zero(at, one, first);
}

static void count_again(struct site at, const struct plan *plan, reg_id_t scratch) {
    opnd_t count = field(plan, -(ID_BYTES + ROOT_BYTES), OPSZ_8);
    insert(at, XINST_CREATE_load(at.context, opnd_create_reg(scratch), count));
    add(at, scratch, 1);
    insert(at, XINST_CREATE_store(at.context, count, opnd_create_reg(scratch)));
}

static void store_at_start(struct site at, const struct plan *plan, const struct store *store, reg_id_t scratch) {
    reg_id_t value = store->reg;
    if (store->kind == STORE_ADDRESS) {
        bool is_scaled;
        uint shift;
        opnd_get_index_extend(store->operand, &is_scaled, &shift);
        value = scratch;
        insert(at,
               XINST_CREATE_add_sll(at.context, opnd_create_reg(value), opnd_create_reg(opnd_get_base(store->operand)),
                                    opnd_create_reg(opnd_get_index(store->operand)), shift));
    }
    insert(at, XINST_CREATE_store(at.context, root_field(plan, store->root), opnd_create_reg(value)));
}

void insert_repetition(struct site at, struct plan *plan) {
    instr_t *first = INSTR_CREATE_label(at.context), *done = INSTR_CREATE_label(at.context);
    reserve_cursor(at, plan, plan->mentioned);
    reg_id_t one = reserve_but(at, plan->mentioned), other = reserve_but(at, plan->mentioned);
    compare_last(at, plan, one, other, first);
    count_again(at, plan, one);
    insert(at, XINST_CREATE_jump(at.context, opnd_create_instr(done)));
    insert(at, first);
    store_id(at, plan, one);
    for (uint32_t i = 0; i < plan->stores; i++)
        store_at_start(at, plan, &plan->store[i], one);
    insert_check(at, plan, one);
    move_cursor(at, plan);
    store_slot(at, SLOT_REPEATED_CURSOR, plan->cursor);
    set(at, one, plan->id);
    store_slot(at, SLOT_REPEATED_ID, one);
    insert(at, done);
    release(at, other);
    release(at, one);
    release(at, plan->cursor);
}

void begin_code(void *context) { (void)context; }

// No block can be left in its midst.
uint32_t registers_never_held(void) { return 0; }

void insert_exit(struct site at, const struct plan *plan, const struct exit *exit) { (void)at, (void)plan, (void)exit; }
