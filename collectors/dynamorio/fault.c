// Blocks that were left in their middle, by an instruction that may not do what it would.
#include "client.h"

#include <signal.h>
#include <string.h>

static bool is_of_instruction(int number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

// The block's instructions before `fault`.
static instrlist_t *executed_part(void *context, app_pc start, app_pc fault) {
    instrlist_t *block = decode_block(context, start);
    for (instr_t *next, *instruction = instrlist_first(block); instruction; instruction = next) {
        next = instr_get_next(instruction);
        if (instr_get_app_pc(instruction) >= fault) {
            instrlist_remove(block, instruction);
            instr_destroy(context, instruction);
        }
    }
    return block;
}

// What the block that was cut off has stored is the record of a shorter block: roots are planned in the order of
// instructions.
static void keep_executed_part(void *context, struct thread_state *state, app_pc start, app_pc fault) {
    instrlist_t *block = executed_part(context, start, fault);
    plan_block(context, block, &state->plan);
    if (define_block(&state->plan))
        end_cut_record(state, state->plan.id, state->plan.roots);
    instrlist_clear_and_destroy(context, block);
}

// The same for a block that repeats, whose record has counted the execution already.
static void keep_part_of_repetition(void *context, struct thread_state *state, app_pc start, app_pc fault) {
    instrlist_t *whole = decode_as_bb(context, start), *block = executed_part(context, start, fault);
    plan_block(context, whole, &state->plan);
    struct plan *repeated = dr_thread_alloc(context, sizeof *repeated);
    *repeated = state->plan;
    plan_part_of_repeated(context, block, &state->plan);
    uint32_t roots = state->plan.roots, id = fault > start && define_block(&state->plan) ? state->plan.id : 0;
    take_back_repetition(state, repeated, roots);
    if (id != 0)
        end_cut_record(state, id, roots);
    dr_thread_free(context, repeated, sizeof *repeated);
    instrlist_clear_and_destroy(context, whole);
    instrlist_clear_and_destroy(context, block);
}

static bool lies_in_block(void *context, app_pc start, app_pc code) {
    instrlist_t *block = decode_block(context, start);
    instr_t *last = instrlist_last_app(block);
    bool within = code >= start && last && code <= instr_get_app_pc(last);
    instrlist_clear_and_destroy(context, block);
    return within;
}

dr_signal_action_t signal_comes(void *context, dr_siginfo_t *signal) {
    struct thread_state *state = state_of(context);
    if (!is_of_instruction(signal->sig) || !signal->raw_mcontext_valid)
        return DR_SIGNAL_DELIVER;
    uint32_t id = id_at_cursor(state), repeated = repeated_id(state);
    app_pc start = start_of_block(id ? id : repeated), fault = signal->mcontext->pc;
    if (!start || !lies_in_block(context, start, fault))
        return DR_SIGNAL_DELIVER;
    if (id == 0)
        keep_part_of_repetition(context, state, start, fault);
    else if (fault > start)
        keep_executed_part(context, state, start, fault);
    forget_record(state);
    return DR_SIGNAL_DELIVER;
}
