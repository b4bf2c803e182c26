// The flag that makes the processor refuse addresses that aren't aligned: programs flip it for a moment to learn which
// processor they run on. Records aren't aligned, so the flag never comes on; the program only believes that it did.
#include "client.h"

enum { ALIGNMENT_CHECK = 1 << 18 };

static uint64_t *stacked_flags(void *context) {
    dr_mcontext_t registers = {.size = sizeof registers, .flags = DR_MC_CONTROL | DR_MC_INTEGER};
    dr_get_mcontext(context, &registers);
    return (uint64_t *)(uintptr_t)registers.xsp;
}

static void before_popf(void) {
    void *context = dr_get_current_drcontext();
    uint64_t *place = stacked_flags(context), flags, without;
    if (!dr_safe_read(place, sizeof flags, &flags, NULL))
        return; // the program will fault there
    state_of(context)->checks_alignment = flags & ALIGNMENT_CHECK;
    without = flags & ~(uint64_t)ALIGNMENT_CHECK;
    if (without != flags)
        dr_safe_write(place, sizeof without, &without, NULL);
}

static void after_pushf(void) {
    void *context = dr_get_current_drcontext();
    uint64_t *place = stacked_flags(context), flags;
    if (!state_of(context)->checks_alignment || !dr_safe_read(place, sizeof flags, &flags, NULL))
        return;
    flags |= ALIGNMENT_CHECK;
    dr_safe_write(place, sizeof flags, &flags, NULL);
}

void keep_alignment_unchecked(void *context, instrlist_t *block, instr_t *instruction) {
    if (instr_get_opcode(instruction) == OP_popf)
        dr_insert_clean_call_ex(context, block, instruction, (void *)before_popf, DR_CLEANCALL_READS_APP_CONTEXT, 0);
    if (instr_get_opcode(instruction) == OP_pushf)
        dr_insert_clean_call_ex(context, block, instr_get_next(instruction), (void *)after_pushf,
                                DR_CLEANCALL_READS_APP_CONTEXT, 0);
}
