// Blocks that were left in their middle, by an instruction that may not do what it would.
#include "client.h"

#include <signal.h>
#include <string.h>

static bool is_of_instruction(int number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

// The block's instructions before `fault`.
static instrlist_t *executed_part(void *context, app_pc start, app_pc fault) {
    instrlist_t *block = decode_as_bb(context, start);
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
    uint32_t id = define_block(&state->plan);
    if (id != 0)
        end_cut_record(state, id, state->plan.roots);
    instrlist_clear_and_destroy(context, block);
}

dr_signal_action_t signal_comes(void *context, dr_siginfo_t *signal) {
    struct thread_state *state = state_of(context);
    uint32_t id = id_at_cursor(state);
    if (!is_of_instruction(signal->sig) || !signal->raw_mcontext_valid || id == 0)
        return DR_SIGNAL_DELIVER;
    app_pc start = start_of_block(id), fault = signal->mcontext->pc;
    if (start && fault > start)
        keep_executed_part(context, state, start, fault);
    forget_record(state);
    return DR_SIGNAL_DELIVER;
}
