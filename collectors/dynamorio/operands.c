// What instructions access and change, whatever the instruction set.
#include "planner.h"

#include "drutil.h"

uint32_t size_of(instr_t *instruction, opnd_t operand) {
    return corrected_size(instruction, drutil_opnd_mem_size_in_bytes(operand, instruction));
}

uint32_t registers_of(opnd_t operand) {
    uint32_t registers = 0;
    for (int i = 0; i < opnd_num_regs_used(operand); i++)
        if (reg_is_gpr(opnd_get_reg_used(operand, i)))
            registers |= bit_of(reg_to_pointer_sized(opnd_get_reg_used(operand, i)));
    return registers;
}

uint32_t registers_mentioned(instr_t *instruction) {
    uint32_t mentioned = 0;
    for (int i = 0; i < instr_num_srcs(instruction); i++)
        mentioned |= registers_of(instr_get_src(instruction, i));
    for (int i = 0; i < instr_num_dsts(instruction); i++)
        mentioned |= registers_of(instr_get_dst(instruction, i));
    return mentioned;
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
    for (int i = 0; i < instr_num_dsts(instruction); i++) {
        opnd_t target = instr_get_dst(instruction, i);
        if (opnd_is_reg(target) && reg_is_gpr(opnd_get_reg(target)))
            forget(planner, reg_to_pointer_sized(opnd_get_reg(target)));
    }
}
