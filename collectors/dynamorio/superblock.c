// Blocks that go on past conditional branches, as long as these aren't taken. So the cursor is loaded and moved once
// for several basic blocks: from one to the next it goes through memory, which takes longer than most blocks do.
#include "client.h"
#include "planner.h"

#include "drmgr.h"

enum { PAGE_BYTES = 4096, LONGEST_INSTRUCTION = 16, KNOWN_REGIONS = 64 };

static app_pc page_of(app_pc code) { return (app_pc)((uintptr_t)code & ~(uintptr_t)(PAGE_BYTES - 1)); }

static app_pc after(void *context, instr_t *instruction) {
    return instr_get_app_pc(instruction) + instr_length(context, instruction);
}

// Mapped memory that isn't written to; DynamoRIO reads /proc/self/maps for each question.
static struct {
    void *lock;
    uint32_t next;
    struct {
        app_pc start, end;
    } region[KNOWN_REGIONS];
} unwritten;

static bool is_known_unwritten(app_pc code) {
    for (uint32_t i = 0; i < KNOWN_REGIONS; i++)
        if (code >= unwritten.region[i].start && code < unwritten.region[i].end)
            return true;
    return false;
}

static bool ask_whether_unwritten(app_pc code) {
    dr_mem_info_t memory;
    bool is_known = dr_query_memory_ex(code, &memory);
    if (!is_known || memory.prot & (DR_MEMPROT_WRITE | DR_MEMPROT_PRETEND_WRITE))
        return false;
    uint32_t place = unwritten.next++ % KNOWN_REGIONS;
    unwritten.region[place].start = memory.base_pc;
    unwritten.region[place].end = memory.base_pc + memory.size;
    return true;
}

// DynamoRIO runs code that may be written in another way.
static bool is_unwritten(app_pc code) {
    dr_mutex_lock(unwritten.lock);
    bool answer = is_known_unwritten(code) || ask_whether_unwritten(code);
    dr_mutex_unlock(unwritten.lock);
    return answer;
}

void forget_memory(app_pc start, size_t length) {
    dr_mutex_lock(unwritten.lock);
    for (uint32_t i = 0; i < KNOWN_REGIONS; i++)
        if (start < unwritten.region[i].end && start + length > unwritten.region[i].start)
            unwritten.region[i].start = unwritten.region[i].end = NULL;
    dr_mutex_unlock(unwritten.lock);
}

void begin_superblocks(void) { unwritten.lock = dr_mutex_create(); }
void end_superblocks(void) { dr_mutex_destroy(unwritten.lock); }

static app_pc target_of(instr_t *branch) {
    return opnd_is_pc(instr_get_target(branch)) ? opnd_get_pc(instr_get_target(branch)) : NULL;
}

// Where the block goes on after its last instruction; none if it ends there. Branches back are mostly taken. A jump
// back would make addresses repeat.
static app_pc goes_on_at(void *context, instr_t *last) {
    app_pc next = after(context, last);
    if (!instr_is_cti(last))
        return next;
    if (target_of(last) <= next)
        return NULL;
    if (can_leave_within(last))
        return next;
    return can_be_left_out(last) ? target_of(last) : NULL;
}

static uint32_t count(instrlist_t *block) {
    uint32_t instructions = 0;
    for (instr_t *at = instrlist_first_app(block); at; at = instr_get_next_app(at))
        instructions++;
    return instructions;
}

static uint32_t mentioned_in(instrlist_t *block) {
    uint32_t mentioned = 0;
    for (instr_t *at = instrlist_first_app(block); at; at = instr_get_next_app(at))
        mentioned |= registers_mentioned(at);
    return mentioned;
}

// The instruction at `code`, if the block may hold it as well.
static instr_t *next_instruction(void *context, app_pc code, uint32_t mentioned) {
    if (code + LONGEST_INSTRUCTION > page_of(code) + PAGE_BYTES || is_watched(code))
        return NULL;
    instr_t *instruction = instr_create(context);
    bool decoded = decode(context, code, instruction) != NULL;
    if (decoded && may_be_added(instruction) && leaves_a_register(mentioned | registers_mentioned(instruction))) {
        instr_set_translation(instruction, code);
        return instruction;
    }
    instr_destroy(context, instruction);
    return NULL;
}

void extend_block(void *context, instrlist_t *block) {
    instr_t *last = instrlist_last_app(block);
    if (!last || !instr_is_cti(last) || !goes_on_at(context, last) || !is_unwritten(instr_get_app_pc(last)))
        return;
    app_pc page = page_of(instr_get_app_pc(last)); // DynamoRIO watches the pages of the block as it found it.
    uint32_t instructions = count(block), mentioned = mentioned_in(block), exits = 0;
    for (; instructions < MOST_INSTRUCTIONS; instructions++) {
        app_pc code = goes_on_at(context, last);
        exits += instr_is_cbr(last);
        if (!code || page_of(code) != page || exits > MOST_EXITS)
            return;
        instr_t *next = next_instruction(context, code, mentioned);
        if (!next)
            return;
        mentioned |= registers_mentioned(next);
        instrlist_append(block, next);
        last = next;
    }
}

instrlist_t *decode_block(void *context, app_pc start) {
    instrlist_t *block = decode_as_bb(context, start);
    extend_block(context, block);
    return block;
}

dr_emit_flags_t extend_new_block(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating) {
    (void)tag, (void)for_trace, (void)translating;
    extend_block(context, block);
    return DR_EMIT_DEFAULT;
}

dr_emit_flags_t leave_out_jumps(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating) {
    (void)tag, (void)for_trace, (void)translating;
    for (instr_t *next, *at = instrlist_first_app(block); at; at = next) {
        next = instr_get_next_app(at);
        if (next && instr_is_ubr(at) && target_of(at) == instr_get_app_pc(next)) {
            instrlist_remove(block, at);
            instr_destroy(context, at);
        }
    }
    return DR_EMIT_DEFAULT;
}
