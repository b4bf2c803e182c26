// Follows the values of registers through a block.
#include "planner.h"

#include <string.h>

static uint8_t kind_of(instr_t *instruction) {
    if (instr_is_cbr(instruction))
        return 1;
    if (instr_is_call_direct(instruction))
        return 4;
    if (instr_is_call_indirect(instruction))
        return 5;
    if (instr_is_return(instruction))
        return 6;
    if (instr_is_ubr(instruction))
        return 2;
    if (instr_is_mbr(instruction))
        return 3;
    return instr_is_syscall(instruction) ? 7 : 0;
}

static void plan_instruction(struct planner *planner, instr_t *instruction) {
    uint32_t place = planner->plan->definition_length;
    struct trackway_instruction *head = append(planner, sizeof *head);
    uint8_t kind = kind_of(instruction);
    bool is_direct = kind == 1 || kind == 2 || kind == 4;
    head->address = (uint64_t)(uintptr_t)instr_get_app_pc(instruction);
    head->target = is_direct && opnd_is_pc(instr_get_target(instruction))
                       ? (uint64_t)(uintptr_t)opnd_get_pc(instr_get_target(instruction))
                       : 0;
    head->length = (uint8_t)instr_length(planner->context, instruction);
    head->kind = kind;
    if (!plan_told(planner, instruction))
        each_operand(planner, instruction, take_plain, NULL);
    if (planner->failed)
        return;
    uint32_t bytes = planner->plan->definition_length - place - (uint32_t)sizeof *head;
    head->accesses = (uint16_t)(bytes / sizeof(struct trackway_access));
    planner->plan->mentioned |= registers_mentioned(instruction);
    execute(planner, instruction);
}

static void add_exit(struct plan *plan, instr_t *branch) {
    plan->exit[plan->exits++] = (struct exit){.where = branch,
                                              .roots = plan->roots,
                                              .instructions = plan->instructions,
                                              .definition_length = plan->definition_length};
}

static void plan_all(struct planner *planner, instrlist_t *block) {
    struct plan *plan = planner->plan;
    plan->id = plan->roots = plan->stores = plan->next = plan->mentioned = plan->instructions = plan->exits = 0;
    plan->repeats = plan->is_checked = false;
    plan->definition_length = 0;
    planner->next_value = REGISTERS;
    for (uint32_t i = 0; i < REGISTERS; i++)
        planner->held[i] = (struct held){.value = i};
    instr_t *last = instrlist_last_app(block);
    append(planner, sizeof(struct trackway_block));
    for (instr_t *instruction = instrlist_first_app(block); instruction;
         instruction = instr_get_next_app(instruction)) {
        if (!planner->failed)
            plan_instruction(planner, instruction);
        plan->instructions++;
        if (instr_is_cbr(instruction) && instruction != last)
            add_exit(plan, instruction);
    }
    *(struct trackway_block *)plan->definition = (struct trackway_block){.head = {.kind = TRACKWAY_BLOCK}};
}

static bool goes_back_to_itself(instrlist_t *block) {
    instr_t *first = instrlist_first_app(block), *last = instrlist_last_app(block);
    return first && instr_is_cbr(last) && opnd_is_pc(instr_get_target(last)) &&
           opnd_get_pc(instr_get_target(last)) == instr_get_app_pc(first);
}

// The distance by which a value that a register held at the block's begin has moved in it at the block's end. False if
// the register doesn't hold it any more.
static bool moves(const struct planner *planner, uint32_t value, int64_t *distance) {
    *distance = 0;
    if (value == NO_VALUE)
        return true;
    if (value >= REGISTERS || planner->held[value].value != value)
        return false;
    *distance = planner->held[value].offset;
    return true;
}

static bool all_move_on(struct planner *planner) {
    struct plan *plan = planner->plan;
    for (uint32_t i = 0; i < plan->roots; i++) {
        const struct root *root = &planner->root[i];
        int64_t base, index;
        if (root->base == NO_VALUE || !moves(planner, root->base, &base) || !moves(planner, root->index, &index))
            return false;
        plan->step[i] = base + root->scale * index;
    }
    return true;
}

static void plan_repetition(struct planner *planner, instrlist_t *block) {
    struct plan *plan = planner->plan;
    planner->start = instrlist_first_app(block);
    plan_all(planner, block);
    if (planner->failed || !all_move_on(planner))
        return;
    int64_t *steps = append(planner, plan->roots * sizeof *steps);
    if (planner->failed)
        return;
    memcpy(steps, plan->step, plan->roots * sizeof *steps);
    add_roots(planner, 1); // how often it was executed again
    plan->repeats = true;
    ((struct trackway_block *)plan->definition)->repeats = 1;
}

static void finish(struct planner *planner) {
    struct plan *plan = planner->plan;
    if (planner->failed)
        plan->definition_length = 0;
    dr_thread_free(planner->context, planner, sizeof *planner);
}

static struct planner *begin(void *context, struct plan *plan) {
    struct planner *planner = dr_thread_alloc(context, sizeof *planner);
    *planner = (struct planner){.context = context, .plan = plan};
    return planner;
}

void plan_block(void *context, instrlist_t *block, struct plan *plan) {
    struct planner *planner = begin(context, plan);
    plan_all(planner, block);
    bool is_loop = plan->exits == 0 && goes_back_to_itself(block);
    // A record that stands for a whole loop fills no buffer, and where one is full a thread joins windows.
    bool may_take_long = !has_windows();
    if (!planner->failed && is_loop && may_take_long && all_move_on(planner) && can_repeat(plan))
        plan_repetition(planner, block);
    finish(planner);
}

void plan_part_of_repeated(void *context, instrlist_t *block, struct plan *plan) {
    struct planner *planner = begin(context, plan);
    planner->start = instrlist_first_app(block);
    plan_all(planner, block);
    finish(planner);
}
