// What instructions access and change, whatever the instruction set.
#include "planner.h"

#include "drutil.h"

uint32_t size_of(instr_t *instruction, opnd_t operand) {
    return corrected_size(instruction, drutil_opnd_mem_size_in_bytes(operand, instruction));
}

void each_operand(struct planner *planner, instr_t *instruction, take_operand *take, void *more) {
    if (instr_reads_memory(instruction))
        for (int i = 0; i < instr_num_srcs(instruction); i++)
            if (opnd_is_memory_reference(instr_get_src(instruction, i)))
                take(planner, instruction, instr_get_src(instruction, i), false, more);
    if (instr_writes_memory(instruction))
        for (int i = 0; i < instr_num_dsts(instruction); i++)
            if (opnd_is_memory_reference(instr_get_dst(instruction, i)))
                take(planner, instruction, instr_get_dst(instruction, i), true, more);
}

void take_plain(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *unused) {
    (void)unused;
    struct address address = address_of(planner, instruction, operand);
    uint32_t size = size_of(instruction, operand);
    if (size > 0)
        add_access(planner, writes, size, &address);
}

void move_by(struct planner *planner, reg_id_t reg, int64_t distance) { held_by(planner, reg)->offset += distance; }

static void forget(struct planner *planner, reg_id_t reg) {
    *held_by(planner, reg) = (struct held){.value = planner->next_value++};
}

reg_id_t only_target(instr_t *instruction) {
    if (instr_num_dsts(instruction) != 1 || !opnd_is_reg(instr_get_dst(instruction, 0)))
        return DR_REG_NULL;
    reg_id_t reg = opnd_get_reg(instr_get_dst(instruction, 0));
    return is_general(reg) ? reg : DR_REG_NULL;
}

void forget_targets(struct planner *planner, instr_t *instruction) {
    for (reg_id_t reg = DR_REG_START_64; reg < DR_REG_START_64 + REGISTERS; reg++)
        if (instr_writes_to_reg(instruction, reg, DR_QUERY_INCLUDE_ALL))
            forget(planner, reg);
}
