// Instructions of x86-64: accesses that depend on more than their addresses, and what becomes of registers.
#include "masks_x86.h"

// ---- Instructions whose accesses depend on more than their addresses -----------------------------------------------

static void take_repeated(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *count) {
    struct address address = {.constant = 0};
    add_register(planner, instruction, &address, opnd_get_base(operand), 1);
    struct trackway_access *access = add_access(planner, writes, size_of(instruction, operand), &address);
    access->form = TRACKWAY_REPEATED;
    access->first = *(uint16_t *)count;
}

static void plan_repeated(struct planner *planner, instr_t *instruction) {
    uint16_t count = add_roots(planner, 2); // how often, and which way
    struct store *store = add_store(planner, instruction, STORE_TOLD, count);
    store->told =
        (struct told){.root = count, .form = TRACKWAY_REPEATED, .opcode = (uint16_t)instr_get_opcode(instruction)};
    each_operand(planner, instruction, take_repeated, &count);
    opnd_t first = instr_num_srcs(instruction) > 0 ? instr_get_src(instruction, 0) : opnd_create_null();
    store->told.element_bytes =
        (uint8_t)size_of(instruction, opnd_is_memory_reference(first) ? first : instr_get_dst(instruction, 0));
}

reg_id_t mask_of(instr_t *instruction) {
    for (int i = 0; i < instr_num_srcs(instruction); i++) {
        opnd_t operand = instr_get_src(instruction, i);
        if (opnd_is_reg(operand) && reg_is_opmask(opnd_get_reg(operand)))
            return opnd_get_reg(operand);
    }
    return DR_REG_NULL;
}

// The vector register whose highest bits say which lanes a gather of AVX2 takes: it is written, too.
static reg_id_t vector_mask_of(instr_t *instruction) {
    for (int i = instr_num_srcs(instruction) - 1; i >= 0; i--) {
        opnd_t operand = instr_get_src(instruction, i);
        if (opnd_is_reg(operand) && reg_is_simd(opnd_get_reg(operand)))
            return opnd_get_reg(operand);
    }
    return DR_REG_NULL;
}

uint8_t simd_number(reg_id_t reg) { return (uint8_t)(reg_resize_to_opsz(reg, OPSZ_64) - DR_REG_START_ZMM); }

static bool has_wide_indices(int opcode) {
    switch (opcode) {
    case OP_vpgatherqd:
    case OP_vpgatherqq:
    case OP_vgatherqps:
    case OP_vgatherqpd:
    case OP_vpscatterqd:
    case OP_vpscatterqq:
    case OP_vscatterqps:
    case OP_vscatterqpd:
        return true;
    default:
        return false;
    }
}

static void take_gathered(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *unused) {
    (void)unused;
    int opcode = instr_get_opcode(instruction);
    uint8_t index_bytes = has_wide_indices(opcode) ? 8 : 4;
    uint8_t element = (uint8_t)opnd_size_in_bytes(
        instr_is_gather(instruction) || instr_is_scatter(instruction) ? opnd_get_size(operand) : OPSZ_NA);
    reg_id_t index = opnd_get_index(operand);
    reg_id_t mask = mask_of(instruction);
    uint32_t index_lanes = opnd_size_in_bytes(reg_get_size(index)) / index_bytes;
    opnd_t data = writes ? instr_get_src(instruction, 0) : instr_get_dst(instruction, 0);
    for (int i = 0; writes && i < instr_num_srcs(instruction); i++)
        if (opnd_is_reg(instr_get_src(instruction, i)) && reg_is_simd(opnd_get_reg(instr_get_src(instruction, i))))
            data = instr_get_src(instruction, i);
    uint32_t data_lanes = opnd_size_in_bytes(reg_get_size(opnd_get_reg(data))) / element;
    uint8_t lanes = (uint8_t)(index_lanes < data_lanes ? index_lanes : data_lanes);
    uint16_t first = add_roots(planner, 1u + lanes);
    bool is_vector_mask = mask == DR_REG_NULL;
    if (is_vector_mask)
        mask = vector_mask_of(instruction);
    reg_id_t base = opnd_get_base(operand);
    add_store(planner, instruction, STORE_TOLD, first)->told = (struct told){
        .root = first,
        .form = TRACKWAY_GATHERED,
        .lanes = lanes,
        .mask = is_vector_mask ? simd_number(mask) : (uint8_t)(OPMASK | (mask - DR_REG_START_OPMASK)),
        .index = simd_number(index),
        .index_bytes = index_bytes,
        .scale = (uint8_t)opnd_get_scale(operand),
        .displacement = opnd_get_disp(operand),
        .base = base == DR_REG_NULL ? REGISTERS : (uint8_t)(base - DR_REG_START_64),
        .element_bytes = element,
    };
    struct address nowhere = {.constant = 0};
    struct trackway_access *access = add_access(planner, writes, element, &nowhere);
    access->form = TRACKWAY_GATHERED;
    access->lanes = lanes;
    access->first = first;
}

static bool repeats(instr_t *instruction) {
    return instr_is_rep_string_op(instruction) && instr_get_opcode(instruction) != OP_rep_ins &&
           instr_get_opcode(instruction) != OP_rep_outs;
}

bool plan_told(struct planner *planner, instr_t *instruction) {
    if (repeats(instruction))
        plan_repeated(planner, instruction);
    else if (instr_is_gather(instruction) || instr_is_scatter(instruction))
        each_operand(planner, instruction, take_gathered, NULL);
    else
        return plan_masked(planner, instruction);
    return true;
}

int index_scale(opnd_t operand) { return opnd_get_scale(operand); }

opnd_t sum_of(reg_id_t base, reg_id_t index, int scale) { return opnd_create_base_disp(base, index, scale, 0, OPSZ_8); }

uint16_t segment_base_of(opnd_t operand) {
    if (!opnd_is_far_memory_reference(operand))
        return 0;
    switch (opnd_get_segment(operand)) {
    case DR_SEG_FS:
        return TRACKWAY_FS_BASE;
    case DR_SEG_GS:
        return TRACKWAY_GS_BASE;
    default:
        return 0;
    }
}

uint32_t corrected_size(instr_t *instruction, uint32_t size) {
    switch (instr_get_opcode(instruction)) {
    case OP_vinsertf32x8:
    case OP_vinsertf64x4:
    case OP_vinserti32x8:
    case OP_vinserti64x4:
        return 32;
    case OP_vmovddup:
        return opnd_get_size(instr_get_dst(instruction, 0)) == OPSZ_16 ? 8 : size;
    default:
        return size;
    }
}

// ---- What instructions do to registers -----------------------------------------------------------------------------

// True if the target's value follows from what was held before.
static bool follow(struct planner *planner, instr_t *instruction) {
    reg_id_t target = only_target(instruction);
    if (target == DR_REG_NULL)
        return false;
    opnd_t source = instr_get_src(instruction, 0);
    switch (instr_get_opcode(instruction)) {
    case OP_mov_ld:
    case OP_mov_st:
        if (!opnd_is_reg(source) || !is_general(opnd_get_reg(source)))
            return false;
        *held_by(planner, target) = *held_by(planner, opnd_get_reg(source));
        return true;
    case OP_add:
    case OP_sub: {
        bool adds = instr_get_opcode(instruction) == OP_add;
        if (!opnd_is_immed_int(source))
            return false;
        int64_t distance = opnd_get_immed_int(source);
        move_by(planner, target, adds ? distance : -distance);
        return true;
    }
    case OP_inc:
        move_by(planner, target, 1);
        return true;
    case OP_dec:
        move_by(planner, target, -1);
        return true;
    case OP_lea:
        if (!is_simple(source) || opnd_get_index(source) != DR_REG_NULL || opnd_get_base(source) == DR_REG_NULL)
            return false;
        *held_by(planner, target) = *held_by(planner, opnd_get_base(source));
        move_by(planner, target, opnd_get_disp(source));
        return true;
    default:
        return false;
    }
}

// The distance by which the stack pointer moves, apart from writes to it as a register.
static int64_t stack_moves_by(instr_t *instruction) {
    switch (instr_get_opcode(instruction)) {
    case OP_push:
    case OP_push_imm:
    case OP_pushf:
    case OP_call:
    case OP_call_ind:
        return -(int64_t)opnd_size_in_bytes(opnd_get_size(instr_get_dst(instruction, 1)));
    case OP_pop:
    case OP_popf: {
        int last = instr_num_srcs(instruction) - 1;
        return opnd_size_in_bytes(opnd_get_size(instr_get_src(instruction, last)));
    }
    default:
        return 0;
    }
}

void execute(struct planner *planner, instr_t *instruction) {
    if (follow(planner, instruction))
        return;
    bool leaves = instr_get_opcode(instruction) == OP_leave;
    int64_t stack = leaves ? 8 : stack_moves_by(instruction);
    struct held stack_pointer = *held_by(planner, leaves ? DR_REG_RBP : DR_REG_RSP);
    forget_targets(planner, instruction);
    bool pops_stack_pointer = instr_get_opcode(instruction) == OP_pop && opnd_is_reg(instr_get_dst(instruction, 0)) &&
                              opnd_get_reg(instr_get_dst(instruction, 0)) == DR_REG_RSP;
    if (stack != 0 && !pops_stack_pointer) {
        stack_pointer.offset += stack;
        *held_by(planner, DR_REG_RSP) = stack_pointer;
    }
}

// Registers for the cursor and for sums that the block doesn't need.
bool can_repeat(const struct plan *plan) {
    return __builtin_popcount(plan->mentioned | 1u << (DR_REG_RSP - DR_REG_START_64)) <= REGISTERS - 2;
}

// ---- Blocks that go on after branches ------------------------------------------------------------------------------

bool can_leave_within(instr_t *branch) {
    int opcode = instr_get_opcode(branch);
    return (opcode >= OP_jo && opcode <= OP_jnle) || (opcode >= OP_jo_short && opcode <= OP_jnle_short);
}

bool can_be_left_out(instr_t *branch) {
    int opcode = instr_get_opcode(branch);
    return opcode == OP_jmp || opcode == OP_jmp_short;
}

bool may_be_added(instr_t *instruction) {
    switch (instr_get_opcode(instruction)) {
    case OP_popf:
    case OP_pushf:
    case OP_sysenter:
    case OP_hlt:
    case OP_ud2:
    case OP_xbegin:
    case OP_mov_seg:
    case OP_fxsave32:
    case OP_fxsave64:
    case OP_fnsave:
    case OP_fnstenv:
    case OP_xsave32:
    case OP_xsave64:
    case OP_xsaveopt32:
    case OP_xsaveopt64:
    case OP_xsavec32:
    case OP_xsavec64:
        return false;
    default:
        return !instr_is_syscall(instruction) && !instr_is_interrupt(instruction) && !instr_is_far_cti(instruction);
    }
}

bool leaves_a_register(uint32_t mentioned) {
    uint32_t all = (1u << REGISTERS) - 1, taken = mentioned | bit_of(DR_REG_RSP) | bit_of(DR_REG_RAX);
    return (all & ~taken) != 0;
}
