// A client of DynamoRIO that counts what the executable's own code loads and stores beside the stack, and beside the
// targets of its jumps. Prints one line at the end: reads, writes, bytes read, bytes written.
#include "dr_api.h"
#include "drmgr.h"
#include "drreg.h"
#include "drutil.h"
#include "drx.h"

#include <stdint.h>

enum { STACK_BYTES = 8 << 20 };

static uint64_t counts[2], bytes[2];
static app_pc first_code, last_code;
static uintptr_t end_of_stack;

static void note(uintptr_t address, uint32_t size, uint32_t is_write) {
    if (end_of_stack == 0) {
        dr_mcontext_t context = {.size = sizeof context, .flags = DR_MC_CONTROL};
        dr_mem_info_t stack;
        dr_get_mcontext(dr_get_current_drcontext(), &context);
        dr_query_memory_ex((void *)context.xsp, &stack);
        end_of_stack = (uintptr_t)stack.base_pc + stack.size;
    }
    if (address < end_of_stack && address >= end_of_stack - STACK_BYTES)
        return;
    counts[is_write]++;
    bytes[is_write] += size;
}

static void insert_note(void *context, instrlist_t *block, instr_t *where, instr_t *access, opnd_t operand,
                        bool is_write) {
    reg_id_t address, scratch;
    if (drreg_reserve_register(context, block, where, NULL, &address) != DRREG_SUCCESS ||
        drreg_reserve_register(context, block, where, NULL, &scratch) != DRREG_SUCCESS)
        DR_ASSERT(false);
    if (!drutil_insert_get_mem_addr(context, block, where, operand, address, scratch))
        DR_ASSERT(false);
    uint32_t size = drutil_opnd_mem_size_in_bytes(operand, access);
    dr_insert_clean_call(context, block, where, note, false, 3, opnd_create_reg(address), OPND_CREATE_INT32(size),
                         OPND_CREATE_INT32(is_write));
    drreg_unreserve_register(context, block, where, scratch);
    drreg_unreserve_register(context, block, where, address);
}

static bool is_of_executable(app_pc pc) { return pc >= first_code && pc < last_code; }

static dr_emit_flags_t insert(void *context, void *tag, instrlist_t *block, instr_t *where, bool for_trace,
                              bool translating, void *data) {
    instr_t *access = drmgr_orig_app_instr_for_operands(context);
    if (!access || !is_of_executable(instr_get_app_pc(access)) || instr_is_mbr(access))
        return DR_EMIT_DEFAULT;
    for (int i = 0; i < instr_num_srcs(access) && instr_reads_memory(access); i++)
        if (opnd_is_memory_reference(instr_get_src(access, i)))
            insert_note(context, block, where, access, instr_get_src(access, i), false);
    for (int i = 0; i < instr_num_dsts(access); i++)
        if (opnd_is_memory_reference(instr_get_dst(access, i)))
            insert_note(context, block, where, access, instr_get_dst(access, i), true);
    return DR_EMIT_DEFAULT;
}

static dr_emit_flags_t expand(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating) {
    bool done;
    if (!drutil_expand_rep_string(context, block) || !drx_expand_scatter_gather(context, block, &done))
        DR_ASSERT(false);
    return DR_EMIT_DEFAULT;
}

static void at_exit(void) {
    dr_fprintf(STDERR, "counts %llu %llu %llu %llu\n", (unsigned long long)counts[0], (unsigned long long)counts[1],
               (unsigned long long)bytes[0], (unsigned long long)bytes[1]);
    drx_exit();
    drutil_exit();
    drreg_exit();
    drmgr_exit();
}

DR_EXPORT void dr_client_main(client_id_t id, int argc, const char *argv[]) {
    drreg_options_t registers = {.struct_size = sizeof registers, .num_spill_slots = 4};
    drmgr_init();
    drreg_init(&registers);
    drutil_init();
    drx_init();
    module_data_t *executable = dr_get_main_module();
    first_code = executable->start;
    last_code = executable->end;
    dr_free_module_data(executable);
    drmgr_register_bb_app2app_event(expand, NULL);
    drmgr_register_bb_instrumentation_event(NULL, insert, NULL);
    dr_register_exit_event(at_exit);
}
