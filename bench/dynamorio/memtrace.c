// A client of DynamoRIO that works as its sample `memtrace_x86` does: inserted code stores an entry of 32 bytes for
// each access into a buffer of the thread, and a full buffer is written to the thread's file. Prints the number of
// entries.
#include "entries.h"

#include "drmgr.h"
#include "drreg.h"
#include "drutil.h"
#include "drx.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_BYTES = 4096 };

struct thread {
    char *cursor;
    int64_t negative_end; // is added to the cursor without changing the flags; 0 means full
    char *begin;
    struct output *output;
};

static struct options options = {.form = FORM_BINARY, .buffer_bytes = 8192 * sizeof(struct entry)};
static app_pc flush_code; // empties the buffer and goes on at the address in rcx
static uint64_t entry_count;
static int tls_field;

static void flush(struct thread *thread) {
    size_t count = (size_t)(thread->cursor - thread->begin) / sizeof(struct entry);
    write_entries(thread->output, (struct entry *)thread->begin, count);
    memset(thread->begin, 0, options.buffer_bytes);
    thread->cursor = thread->begin;
    __atomic_fetch_add(&entry_count, count, __ATOMIC_RELAXED);
}

static void flush_this_thread(void) { flush(drmgr_get_tls_field(dr_get_current_drcontext(), tls_field)); }

static void begin_thread(void *context) {
    struct thread *thread = dr_thread_alloc(context, sizeof *thread);
    thread->begin = dr_raw_mem_alloc(options.buffer_bytes, DR_MEMPROT_READ | DR_MEMPROT_WRITE, NULL);
    thread->cursor = thread->begin;
    thread->negative_end = -(int64_t)(uintptr_t)(thread->begin + options.buffer_bytes);
    thread->output = open_output(&options, dr_get_thread_id(context));
    drmgr_set_tls_field(context, tls_field, thread);
}

static void end_thread(void *context) {
    struct thread *thread = drmgr_get_tls_field(context, tls_field);
    flush(thread);
    close_output(thread->output);
    dr_raw_mem_free(thread->begin, options.buffer_bytes);
    dr_thread_free(context, thread, sizeof *thread);
}

// ---- Inserted code -------------------------------------------------------------------------------------------------

struct site {
    void *context;
    instrlist_t *block;
    instr_t *where;
    reg_id_t address, entry; // registers; `entry` is rcx
};

static void insert(const struct site *at, instr_t *instruction) {
    instrlist_meta_preinsert(at->block, at->where, instruction);
}

static bool reserve(struct site *at) {
    drvector_t rcx;
    drreg_init_and_fill_vector(&rcx, false);
    drreg_set_vector_entry(&rcx, DR_REG_RCX, true);
    bool reserved = drreg_reserve_register(at->context, at->block, at->where, &rcx, &at->entry) == DRREG_SUCCESS &&
                    drreg_reserve_register(at->context, at->block, at->where, NULL, &at->address) == DRREG_SUCCESS;
    drvector_delete(&rcx);
    return reserved;
}

static opnd_t field(const struct site *at, size_t offset, opnd_size_t size) {
    return opnd_create_base_disp(at->entry, DR_REG_NULL, 0, (int)offset, size);
}

static void store_number(const struct site *at, size_t offset, uint32_t number) {
    insert(at, INSTR_CREATE_mov_imm(at->context, field(at, offset, OPSZ_8), OPND_CREATE_INT32((int)number)));
}

static void fill_entry(const struct site *at, uint32_t size, bool is_write, app_pc pc) {
    store_number(at, offsetof(struct entry, is_write), is_write);
    insert(at, INSTR_CREATE_mov_st(at->context, field(at, offsetof(struct entry, address), OPSZ_8),
                                   opnd_create_reg(at->address)));
    store_number(at, offsetof(struct entry, size), size);
    instrlist_insert_mov_immed_ptrsz(at->context, (ptr_int_t)pc, field(at, offsetof(struct entry, pc), OPSZ_8),
                                     at->block, at->where, NULL, NULL);
}

static opnd_t thread_field(reg_id_t thread, size_t offset) { return OPND_CREATE_MEMPTR(thread, (int)offset); }

// The address register is free again: it holds the thread's state. No instruction here changes the flags.
static void move_cursor(const struct site *at) {
    instr_t *full = INSTR_CREATE_label(at->context), *room = INSTR_CREATE_label(at->context);
    opnd_t entry = opnd_create_reg(at->entry), scratch = opnd_create_reg(at->address);
    drmgr_insert_read_tls_field(at->context, tls_field, at->block, at->where, at->address);
    insert(at, INSTR_CREATE_lea(at->context, entry, field(at, sizeof(struct entry), OPSZ_lea)));
    insert(at, INSTR_CREATE_mov_st(at->context, thread_field(at->address, offsetof(struct thread, cursor)), entry));
    insert(at,
           INSTR_CREATE_mov_ld(at->context, scratch, thread_field(at->address, offsetof(struct thread, negative_end))));
    insert(at, INSTR_CREATE_lea(at->context, entry, opnd_create_base_disp(at->address, at->entry, 1, 0, OPSZ_lea)));
    insert(at, INSTR_CREATE_jecxz(at->context, opnd_create_instr(full)));
    insert(at, XINST_CREATE_jump_short(at->context, opnd_create_instr(room)));
    insert(at, full);
    instrlist_insert_mov_instr_addr(at->context, room, NULL, entry, at->block, at->where, NULL, NULL);
    insert(at, XINST_CREATE_jump(at->context, opnd_create_pc(flush_code)));
    insert(at, room);
}

static void insert_entry(struct site at, instr_t *access, opnd_t operand, bool is_write) {
    if (!reserve(&at) || !drutil_insert_get_mem_addr(at.context, at.block, at.where, operand, at.address, at.entry))
        DR_ASSERT(false);
    opnd_t cursor = thread_field(at.entry, offsetof(struct thread, cursor));
    drmgr_insert_read_tls_field(at.context, tls_field, at.block, at.where, at.entry);
    insert(&at, INSTR_CREATE_mov_ld(at.context, opnd_create_reg(at.entry), cursor));
    fill_entry(&at, drutil_opnd_mem_size_in_bytes(operand, access), is_write, instr_get_app_pc(access));
    move_cursor(&at);
    drreg_unreserve_register(at.context, at.block, at.where, at.address);
    drreg_unreserve_register(at.context, at.block, at.where, at.entry);
}

static dr_emit_flags_t insert_entries(void *context, void *tag, instrlist_t *block, instr_t *where, bool for_trace,
                                      bool translating, void *data) {
    instr_t *access = drmgr_orig_app_instr_for_operands(context);
    struct site at = {.context = context, .block = block, .where = where};
    drmgr_disable_auto_predication(context, block);
    if (!access)
        return DR_EMIT_DEFAULT;
    for (int i = 0; i < instr_num_srcs(access) && instr_reads_memory(access); i++)
        if (opnd_is_memory_reference(instr_get_src(access, i)))
            insert_entry(at, access, instr_get_src(access, i), false);
    for (int i = 0; i < instr_num_dsts(access) && instr_writes_memory(access); i++)
        if (opnd_is_memory_reference(instr_get_dst(access, i)))
            insert_entry(at, access, instr_get_dst(access, i), true);
    return DR_EMIT_DEFAULT;
}

static dr_emit_flags_t expand(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating) {
    bool done;
    if (!drutil_expand_rep_string(context, block) || !drx_expand_scatter_gather(context, block, &done))
        DR_ASSERT(false);
    return DR_EMIT_DEFAULT;
}

// One copy of the call for all accesses, since each copy is long.
static void generate_flush(void *context) {
    flush_code = dr_nonheap_alloc(CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC);
    instrlist_t *code = instrlist_create(context);
    instr_t *back = INSTR_CREATE_jmp_ind(context, opnd_create_reg(DR_REG_RCX));
    instrlist_meta_append(code, back);
    dr_insert_clean_call(context, code, back, (void *)flush_this_thread, false, 0);
    if (instrlist_encode(context, code, flush_code, false) > flush_code + CODE_BYTES)
        DR_ASSERT(false);
    instrlist_clear_and_destroy(context, code);
    dr_memory_protect(flush_code, CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
}

static void at_exit(void) {
    dr_fprintf(STDERR, "memtrace %llu\n", (unsigned long long)entry_count);
    dr_nonheap_free(flush_code, CODE_BYTES);
    drmgr_unregister_tls_field(tls_field);
    drx_exit();
    drreg_exit();
    drutil_exit();
    drmgr_exit();
}

DR_EXPORT void dr_client_main(client_id_t id, int argc, const char *argv[]) {
    drreg_options_t registers = {.struct_size = sizeof registers, .num_spill_slots = 3};
    const char *words = getenv("MEMTRACE_OPTIONS");
    if (words && !read_options(words, &options)) {
        dr_fprintf(STDERR, "memtrace: no options: %s\n", words);
        dr_abort();
    }
    if (options.is_idle)
        return;
    options.buffer_bytes -= options.buffer_bytes % sizeof(struct entry);
    drmgr_init();
    drutil_init();
    drreg_init(&registers);
    drx_init();
    tls_field = drmgr_register_tls_field();
    generate_flush(dr_get_current_drcontext());
    drmgr_register_thread_init_event(begin_thread);
    drmgr_register_thread_exit_event(end_thread);
    drmgr_register_bb_app2app_event(expand, NULL);
    drmgr_register_bb_instrumentation_event(NULL, insert_entries, NULL);
    dr_register_exit_event(at_exit);
}
