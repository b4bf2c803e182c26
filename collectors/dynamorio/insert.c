// The code that each execution of a block runs on top of its own: it stores the block's id and roots where the thread's
// cursor points, and moves the cursor.
#include "client.h"

#include "drmgr.h"
#include "drreg.h"
#include "drutil.h"

#include <string.h>

enum { CODE_BYTES = 4096 };

static app_pc next_buffer_code; // calls next_buffer and goes on at SLOT_RETURN

struct site {
    void *context;
    instrlist_t *block;
    instr_t *where;
};

static void insert(struct site at, instr_t *instruction) { instrlist_meta_preinsert(at.block, at.where, instruction); }

static opnd_t field(reg_id_t cursor, uint32_t offset, opnd_size_t size) {
    return opnd_create_base_disp(cursor, DR_REG_NULL, 0, (int)offset, size);
}

static opnd_t root_field(reg_id_t cursor, uint32_t root) { return field(cursor, ID_BYTES + root * ROOT_BYTES, OPSZ_8); }

static reg_id_t reserve(struct site at, drvector_t *allowed) {
    reg_id_t reg;
    if (drreg_reserve_register(at.context, at.block, at.where, allowed, &reg) != DRREG_SUCCESS)
        DR_ASSERT_MSG(false, "no register is left");
    return reg;
}

static void release(struct site at, reg_id_t reg) {
    if (drreg_unreserve_register(at.context, at.block, at.where, reg) != DRREG_SUCCESS)
        DR_ASSERT_MSG(false, "a register can't be given back");
}

static reg_id_t reserve_but(struct site at, uint32_t registers) {
    drvector_t allowed;
    drreg_init_and_fill_vector(&allowed, false);
    for (uint32_t i = 0; i < REGISTERS; i++)
        if (!((registers | STACK_POINTER_BIT) & (1u << i)))
            drreg_set_vector_entry(&allowed, (reg_id_t)(DR_REG_START_64 + i), true);
    reg_id_t reg = reserve(at, &allowed);
    drvector_delete(&allowed);
    return reg;
}

static reg_id_t load_cursor(struct site at, uint32_t registers_but) {
    reg_id_t cursor = reserve_but(at, registers_but);
    insert(at, XINST_CREATE_load(at.context, opnd_create_reg(cursor), slot_operand(SLOT_CURSOR)));
    return cursor;
}

// The register with the cursor: the block's, or one for now, other than these.
static reg_id_t take_cursor(struct site at, const struct plan *plan, uint32_t registers_but) {
    return plan->cursor != DR_REG_NULL ? plan->cursor : load_cursor(at, registers_but);
}

static void give_cursor(struct site at, const struct plan *plan, reg_id_t cursor) {
    if (plan->cursor == DR_REG_NULL)
        release(at, cursor);
}

static void insert_id(struct site at, const struct plan *plan, reg_id_t cursor) {
    insert(at, XINST_CREATE_store(at.context, field(cursor, 0, OPSZ_4), OPND_CREATE_INT32((int)(plan->id << 8))));
}

static void begin_record(struct site at, struct plan *plan) {
    plan->cursor = has_registers(plan, 1) ? load_cursor(at, plan->mentioned) : DR_REG_NULL;
    reg_id_t cursor = take_cursor(at, plan, 0);
    insert_id(at, plan, cursor);
    give_cursor(at, plan, cursor);
}

// Asks for another buffer where the record may be the last that has room. Changes the flags.
static void insert_comparison(struct site at, reg_id_t register_of_cursor) {
    instr_t *room = INSTR_CREATE_label(at.context), *back = INSTR_CREATE_label(at.context);
    opnd_t cursor = opnd_create_reg(register_of_cursor);
    insert(at, INSTR_CREATE_cmp(at.context, cursor, slot_operand(SLOT_LIMIT)));
    insert(at, INSTR_CREATE_jcc(at.context, OP_jb, opnd_create_instr(room)));
    instrlist_insert_mov_instr_addr(at.context, back, NULL, cursor, at.block, at.where, NULL, NULL);
    insert(at, XINST_CREATE_store(at.context, slot_operand(SLOT_RETURN), cursor));
    insert(at, XINST_CREATE_jump(at.context, opnd_create_pc(next_buffer_code)));
    insert(at, back);
    insert(at, XINST_CREATE_load(at.context, cursor, slot_operand(SLOT_CURSOR)));
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
    reg_id_t cursor = take_cursor(at, plan, 0);
    insert_comparison(at, cursor);
    give_cursor(at, plan, cursor);
    release_flags(at);
    plan->is_checked = true;
}

// The check stands where it needn't keep the flags, if there is such a place.
static void insert_check_if_cheap(struct site at, struct plan *plan, bool is_last) {
    bool dead = false;
    drreg_are_aflags_dead(at.context, at.where, &dead);
    if (!plan->is_checked && (dead || is_last))
        insert_check(at, plan);
}

// As bits, from the first general one on.
static uint32_t bit_of(reg_id_t reg) { return is_general(reg) ? 1u << (reg - DR_REG_START_64) : 0; }

static uint32_t registers_of(opnd_t operand) {
    uint32_t registers = 0;
    for (int i = 0; i < opnd_num_regs_used(operand); i++)
        registers |= bit_of(opnd_get_reg_used(operand, i));
    return registers;
}

static void restore_app_value(struct site at, reg_id_t reg) {
    if (reg != DR_REG_NULL && reg != DR_REG_RSP)
        drreg_get_app_value(at.context, at.block, at.where, reg, reg);
}

static void store_register(struct site at, const struct plan *plan, const struct store *store) {
    reg_id_t cursor = take_cursor(at, plan, bit_of(store->reg));
    restore_app_value(at, store->reg);
    insert(at, XINST_CREATE_store(at.context, root_field(cursor, store->root), opnd_create_reg(store->reg)));
    give_cursor(at, plan, cursor);
}

static void store_address(struct site at, const struct plan *plan, const struct store *store) {
    uint32_t used = registers_of(store->operand);
    reg_id_t cursor = take_cursor(at, plan, used), address = reserve_but(at, used), scratch = reserve_but(at, used);
    for (uint32_t i = 0; i < REGISTERS; i++)
        if (used & (1u << i))
            restore_app_value(at, (reg_id_t)(DR_REG_START_64 + i));
    if (!drutil_insert_get_mem_addr(at.context, at.block, at.where, store->operand, address, scratch))
        DR_ASSERT_MSG(false, "an operand has no address");
    insert(at, XINST_CREATE_store(at.context, root_field(cursor, store->root), opnd_create_reg(address)));
    release(at, scratch);
    release(at, address);
    give_cursor(at, plan, cursor);
}

static void call_tell(struct site at, const struct store *store) {
    uint64_t words[2] = {0, 0};
    memcpy(words, &store->told, sizeof store->told);
    dr_insert_clean_call_ex(at.context, at.block, at.where, tell, DR_CLEANCALL_READS_APP_CONTEXT, 2,
                            OPND_CREATE_INT64((int64_t)words[0]), OPND_CREATE_INT64((int64_t)words[1]));
}

static void insert_store(struct site at, const struct plan *plan, const struct store *store) {
    switch (store->kind) {
    case STORE_REGISTER:
        store_register(at, plan, store);
        break;
    case STORE_ADDRESS:
        store_address(at, plan, store);
        break;
    case STORE_TOLD:
        call_tell(at, store);
        break;
    }
}

static void store_end(struct site at, const struct plan *plan, reg_id_t cursor) {
    opnd_t end = field(cursor, ID_BYTES + plan->roots * ROOT_BYTES, OPSZ_lea);
    insert(at, INSTR_CREATE_lea(at.context, opnd_create_reg(cursor), end));
    insert(at, XINST_CREATE_store(at.context, slot_operand(SLOT_CURSOR), opnd_create_reg(cursor)));
}

static void end_record(struct site at, const struct plan *plan) {
    reg_id_t cursor = take_cursor(at, plan, 0);
    store_end(at, plan, cursor);
    release(at, cursor);
}

// ---- Blocks that repeat --------------------------------------------------------------------------------------------

static void jump_if_not(struct site at, instr_t *first, opnd_t one, opnd_t other) {
    insert(at, INSTR_CREATE_cmp(at.context, one, other));
    insert(at, INSTR_CREATE_jcc(at.context, OP_jne, opnd_create_instr(first)));
}

static opnd_t repeated_id_operand(void) {
    opnd_t slot = slot_operand(SLOT_REPEATED_ID);
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
    insert(at, XINST_CREATE_store(at.context, root_field(plan->cursor, store->root), value));
}

static void insert_repetition(struct site at, struct plan *plan) {
    instr_t *first = INSTR_CREATE_label(at.context), *done = INSTR_CREATE_label(at.context);
    opnd_t id = OPND_CREATE_INT32((int)plan->id);
    reserve_flags(at);
    plan->cursor = load_cursor(at, plan->mentioned);
    reg_id_t scratch = reserve_but(at, plan->mentioned);
    opnd_t cursor = opnd_create_reg(plan->cursor);
    jump_if_not(at, first, cursor, slot_operand(SLOT_REPEATED_CURSOR));
    jump_if_not(at, first, repeated_id_operand(), id);
    insert(at, INSTR_CREATE_inc(at.context, opnd_create_base_disp(plan->cursor, DR_REG_NULL, 0, -ROOT_BYTES, OPSZ_8)));
    insert(at, XINST_CREATE_jump(at.context, opnd_create_instr(done)));
    insert(at, first);
    insert_id(at, plan, plan->cursor);
    for (uint32_t i = 0; i < plan->stores; i++)
        store_at_start(at, plan, &plan->store[i], scratch);
    insert_comparison(at, plan->cursor);
    store_end(at, plan, plan->cursor);
    insert(at, XINST_CREATE_store(at.context, slot_operand(SLOT_REPEATED_CURSOR), cursor));
    insert(at, XINST_CREATE_store(at.context, repeated_id_operand(), id));
    insert(at, done);
    release(at, scratch);
    release(at, plan->cursor);
    release_flags(at);
}

// ---- All blocks ----------------------------------------------------------------------------------------------------

dr_emit_flags_t analyse_block(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating,
                              void **data) {
    (void)tag, (void)for_trace;
    struct thread_state *state = state_of(context);
    *data = state;
    plan_block(context, block, &state->plan);
    state->plan.id = define_block(&state->plan);
    (void)translating;
    return DR_EMIT_DEFAULT;
}

dr_emit_flags_t insert_stores(void *context, void *tag, instrlist_t *block, instr_t *where, bool for_trace,
                              bool translating, void *data) {
    (void)tag, (void)for_trace, (void)translating;
    struct plan *plan = &((struct thread_state *)data)->plan;
    struct site at = {context, block, where};
    drmgr_disable_auto_predication(context, block);
    if (plan->id == 0 || !instr_is_app(where))
        return DR_EMIT_DEFAULT;
    if (plan->repeats) {
        if (where == instrlist_first_app(block))
            insert_repetition(at, plan);
        return DR_EMIT_DEFAULT;
    }
    if (where == instrlist_first_app(block))
        begin_record(at, plan);
    for (; plan->next < plan->stores && plan->store[plan->next].where == where; plan->next++)
        insert_store(at, plan, &plan->store[plan->next]);
    keep_alignment_unchecked(context, block, where);
    bool is_last = where == instrlist_last_app(block);
    insert_check_if_cheap(at, plan, is_last);
    if (is_last)
        end_record(at, plan);
    return DR_EMIT_DEFAULT;
}

void begin_inserting(void) {
    drreg_options_t registers = {
        .struct_size = sizeof registers, .num_spill_slots = 4, .conservative = false, .do_not_sum_slots = false};
    if (drreg_init(&registers) != DRREG_SUCCESS || !drutil_init())
        DR_ASSERT(false);
    void *context = dr_get_current_drcontext();
    next_buffer_code = dr_nonheap_alloc(CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC);
    instrlist_t *code = instrlist_create(context);
    instr_t *end = XINST_CREATE_jump_mem(context, slot_operand(SLOT_RETURN));
    instrlist_meta_append(code, end);
    dr_insert_clean_call(context, code, end, (void *)next_buffer, false, 0);
    if (instrlist_encode(context, code, next_buffer_code, false) >= next_buffer_code + CODE_BYTES)
        DR_ASSERT(false);
    instrlist_clear_and_destroy(context, code);
    dr_memory_protect(next_buffer_code, CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
}

void end_inserting(void) {
    drutil_exit();
    drreg_exit();
}
