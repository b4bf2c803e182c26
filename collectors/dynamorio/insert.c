// The code that each execution of a block runs on top of its own: it stores the block's id and roots where the thread's
// cursor points, and moves the cursor.
#include "insert.h"

#include "drmgr.h"
#include "drreg.h"
#include "drutil.h"

#include <string.h>

void insert(struct site at, instr_t *instruction) { instrlist_meta_preinsert(at.block, at.where, instruction); }

reg_id_t reserve(struct site at, drvector_t *allowed) {
    reg_id_t reg;
    if (drreg_reserve_register(at.context, at.block, at.where, allowed, &reg) != DRREG_SUCCESS)
        DR_ASSERT_MSG(false, "no register is left");
    return reg;
}

void release(struct site at, reg_id_t reg) {
    if (drreg_unreserve_register(at.context, at.block, at.where, reg) != DRREG_SUCCESS)
        DR_ASSERT_MSG(false, "a register can't be given back");
}

static bool may_be_reserved(uint32_t registers_but, reg_id_t reg) {
    return !(registers_but & bit_of(reg)) && reg != DR_REG_XSP && reg != dr_get_stolen_reg();
}

reg_id_t reserve_but(struct site at, uint32_t registers) {
    drvector_t allowed;
    drreg_init_and_fill_vector(&allowed, false);
    for (reg_id_t reg = DR_REG_START_64; is_general(reg); reg++)
        if (may_be_reserved(registers, reg))
            drreg_set_vector_entry(&allowed, reg, true);
    reg_id_t reg = reserve(at, &allowed);
    drvector_delete(&allowed);
    return reg;
}

static bool mentions_all(const struct plan *plan) {
    for (reg_id_t reg = DR_REG_START_64; is_general(reg); reg++)
        if (may_be_reserved(plan->mentioned, reg))
            return false;
    return true;
}

void reserve_cursor(struct site at, struct plan *plan, uint32_t registers_but) {
    plan->cursor = reserve_but(at, registers_but);
    load_cursor(at, plan);
}

void borrow_cursor(struct site at, struct plan *plan, uint32_t registers_but) {
    if (!plan->holds_cursor)
        reserve_cursor(at, plan, registers_but);
}

void return_cursor(struct site at, const struct plan *plan) {
    if (!plan->holds_cursor)
        release(at, plan->cursor);
}

static void begin_record(struct site at, struct plan *plan) {
    plan->holds_cursor = !mentions_all(plan);
    uint32_t never = plan->exits > 0 ? registers_never_held() : 0;
    plan->cursor = reserve_but(at, plan->holds_cursor ? plan->mentioned | never : 0);
    if (plan->exits > 0)
        insert(at, XINST_CREATE_store(at.context, slot_operand(at.context, SLOT_HELD), opnd_create_reg(plan->cursor)));
    load_cursor(at, plan);
    insert_id(at, plan);
    return_cursor(at, plan);
}

static void end_record(struct site at, struct plan *plan) {
    borrow_cursor(at, plan, 0);
    move_cursor(at, plan);
    release(at, plan->cursor);
}

static void restore_app_value(struct site at, reg_id_t reg) {
    if (reg != DR_REG_NULL && reg != DR_REG_XSP)
        drreg_get_app_value(at.context, at.block, at.where, reg, reg);
}

static void store_register(struct site at, struct plan *plan, const struct store *store) {
    borrow_cursor(at, plan, bit_of(store->reg));
    opnd_t field = root_field(plan, store->root);
    if (can_be_stored(store->reg)) {
        restore_app_value(at, store->reg);
        insert(at, XINST_CREATE_store(at.context, field, opnd_create_reg(store->reg)));
    } else {
        reg_id_t scratch = reserve_but(at, bit_of(store->reg));
        load_app_value(at, store->reg, scratch);
        insert(at, XINST_CREATE_store(at.context, field, opnd_create_reg(scratch)));
        release(at, scratch);
    }
    return_cursor(at, plan);
}

static void restore_registers(struct site at, uint32_t registers) {
    for (reg_id_t reg = DR_REG_START_64; is_general(reg); reg++)
        if ((registers & bit_of(reg)) && reg != dr_get_stolen_reg())
            restore_app_value(at, reg);
}

void restore_all_but(struct site at, uint32_t registers) {
    drreg_restore_app_aflags(at.context, at.block, at.where);
    restore_registers(at, ~registers);
}

static const struct exit *exit_at(const struct plan *plan, const instr_t *where) {
    for (uint32_t i = 0; i < plan->exits; i++)
        if (plan->exit[i].where == where)
            return &plan->exit[i];
    return NULL;
}

static void store_address(struct site at, struct plan *plan, const struct store *store) {
    uint32_t used = registers_of(store->operand);
    borrow_cursor(at, plan, used);
    reg_id_t address = reserve_but(at, used), scratch = reserve_but(at, used);
    restore_registers(at, used);
    if (!drutil_insert_get_mem_addr(at.context, at.block, at.where, store->operand, address, scratch))
        DR_ASSERT_MSG(false, "an operand has no address");
    insert(at, XINST_CREATE_store(at.context, root_field(plan, store->root), opnd_create_reg(address)));
    release(at, scratch);
    release(at, address);
    return_cursor(at, plan);
}

static void call_tell(struct site at, const struct store *store) {
    uint64_t words[2] = {0, 0};
    memcpy(words, &store->told, sizeof store->told);
    dr_insert_clean_call_ex(at.context, at.block, at.where, tell, DR_CLEANCALL_READS_APP_CONTEXT, 2,
                            OPND_CREATE_INT64((int64_t)words[0]), OPND_CREATE_INT64((int64_t)words[1]));
}

static void insert_store(struct site at, struct plan *plan, const struct store *store) {
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

dr_emit_flags_t analyse_block(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating,
                              void **data) {
    (void)tag, (void)for_trace;
    struct thread_state *state = state_of(context);
    *data = state;
    plan_block(context, block, &state->plan);
    define_block(&state->plan);
    (void)translating;
    return DR_EMIT_DEFAULT;
}

dr_emit_flags_t insert_stores(void *context, void *tag, instrlist_t *block, instr_t *where, bool for_trace,
                              bool translating, void *data) {
    (void)tag, (void)for_trace, (void)translating;
    struct plan *plan = &((struct thread_state *)data)->plan;
    struct site at = {context, block, where};
    drmgr_disable_auto_predication(context, block);
    if (!instr_is_app(where))
        return DR_EMIT_DEFAULT;
    const struct exit *exit = exit_at(plan, where);
    if (plan->id == 0) {
        if (exit)
            insert_exit(at, plan, exit);
        return DR_EMIT_DEFAULT;
    }
    if (plan->repeats) {
        if (where == instrlist_first_app(block))
            insert_repetition(at, plan);
        return DR_EMIT_DEFAULT;
    }
    if (where == instrlist_first_app(block))
        begin_record(at, plan);
    for (; plan->next < plan->stores && plan->store[plan->next].where == where; plan->next++)
        insert_store(at, plan, &plan->store[plan->next]);
    insert_for_instruction(at);
    bool is_last = where == instrlist_last_app(block);
    insert_check_if_cheap(at, plan, is_last || exit);
    if (exit)
        insert_exit(at, plan, exit);
    if (is_last)
        end_record(at, plan);
    return DR_EMIT_DEFAULT;
}

void begin_inserting(void) {
    drreg_options_t registers = {
        .struct_size = sizeof registers, .num_spill_slots = 4, .conservative = false, .do_not_sum_slots = false};
    if (drreg_init(&registers) != DRREG_SUCCESS || !drutil_init())
        DR_ASSERT(false);
    begin_code(dr_get_current_drcontext());
}

void end_inserting(void) {
    drutil_exit();
    drreg_exit();
}
