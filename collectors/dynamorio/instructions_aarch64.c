// Instructions of AArch64: what becomes of registers, and what has no addresses that could be known.
#include "planner.h"

#include "ring.h"

// ---- Accesses ------------------------------------------------------------------------------------------------------

// Binary logarithm of the bytes that `dc zva` zeroes: a property of the processor.
static uint8_t block_logarithm(void) {
    enum { WORD_LOGARITHM = 2, LOGARITHM_BITS = 15 };
    uint64_t words;
    __asm__("mrs %0, dczid_el0" : "=r"(words));
    return (uint8_t)(WORD_LOGARITHM + (words & LOGARITHM_BITS));
}

static void take_zeroed(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *unused) {
    (void)unused;
    struct address address = {.constant = 0};
    uint16_t root = add_roots(planner, 1);
    reg_id_t base = opnd_get_base(operand);
    add_term(&address, root, 1, 0);
    add_store(planner, instruction, STORE_TOLD, root)->told =
        (struct told){.root = root, .scale = block_logarithm(), .base = (uint8_t)(base - DR_REG_START_64)};
    add_access(planner, writes, 1u << block_logarithm(), &address);
}

static void complain_of_predicates(void) {
    static bool complained;
    if (!complained)
        __trackway_complain("predicated loads and stores of SVE aren't recorded");
    complained = true;
}

bool plan_told(struct planner *planner, instr_t *instruction) {
    if (instr_get_opcode(instruction) == OP_dc_zva)
        each_operand(planner, instruction, take_zeroed, NULL);
    else if (instr_is_gather(instruction) || instr_is_scatter(instruction)) // DynamoRIO means contiguous ones, too
        complain_of_predicates();
    else
        return false;
    return true;
}

uint32_t corrected_size(instr_t *instruction, uint32_t size) {
    (void)instruction;
    return size;
}

int index_scale(opnd_t operand) {
    bool is_scaled;
    uint amount;
    switch (opnd_get_index_extend(operand, &is_scaled, &amount)) {
    case DR_EXTEND_UXTX:
    case DR_EXTEND_SXTX:
        return is_scaled ? 1 << amount : 1;
    default:
        return 0; // half of a register
    }
}

opnd_t sum_of(reg_id_t base, reg_id_t index, int scale) {
    return opnd_create_base_disp_shift_aarch64(base, index, DR_EXTEND_UXTX, true, 0, 0, OPSZ_8,
                                               (uint)__builtin_ctz((unsigned)scale));
}

uint16_t segment_base_of(opnd_t operand) {
    (void)operand;
    return 0;
}

// ---- What instructions do to registers -----------------------------------------------------------------------------

static bool is_immediate(instr_t *instruction, int source) {
    return instr_num_srcs(instruction) > source && opnd_is_immed_int(instr_get_src(instruction, source));
}

static int64_t immediate(instr_t *instruction, int source) {
    return opnd_get_immed_int(instr_get_src(instruction, source));
}

// `add target, source, #immediate, lsl #amount`: sources are the register, the immediate, lsl, the amount.
static bool follow_sum(struct planner *planner, instr_t *instruction, reg_id_t target, int sign) {
    opnd_t source = instr_get_src(instruction, 0);
    if (!opnd_is_reg(source) || !is_general(opnd_get_reg(source)) || !is_immediate(instruction, 1))
        return false;
    int64_t amount = is_immediate(instruction, 3) ? immediate(instruction, 3) : 0;
    *held_by(planner, target) = *held_by(planner, opnd_get_reg(source));
    move_by(planner, target, sign * (immediate(instruction, 1) << amount));
    return true;
}

// `mov target, source` is `orr target, xzr, source, lsl #0`.
static bool follow_move(struct planner *planner, instr_t *instruction, reg_id_t target) {
    opnd_t zero = instr_get_src(instruction, 0), source = instr_get_src(instruction, 1);
    bool is_move = opnd_is_reg(zero) && opnd_get_reg(zero) == DR_REG_XZR && opnd_is_reg(source) &&
                   is_general(opnd_get_reg(source)) && is_immediate(instruction, 3) && immediate(instruction, 3) == 0;
    if (is_move)
        *held_by(planner, target) = *held_by(planner, opnd_get_reg(source));
    return is_move;
}

// True if the target's value follows from what was held before.
static bool follow(struct planner *planner, instr_t *instruction) {
    reg_id_t target = only_target(instruction);
    if (target == DR_REG_NULL)
        return false;
    switch (instr_get_opcode(instruction)) {
    case OP_add:
        return follow_sum(planner, instruction, target, 1);
    case OP_sub:
        return follow_sum(planner, instruction, target, -1);
    case OP_orr:
        return follow_move(planner, instruction, target);
    default:
        return false;
    }
}

static bool writes_back(int opcode) {
    switch (opcode) {
    case OP_ldr:
    case OP_str:
    case OP_ldp:
    case OP_stp:
    case OP_ldpsw:
    case OP_ldrb:
    case OP_strb:
    case OP_ldrh:
    case OP_strh:
    case OP_ldrsb:
    case OP_ldrsh:
    case OP_ldrsw:
        return true;
    default:
        return false;
    }
}

static bool has_register(opnd_t (*operand)(instr_t *, uint), int count, instr_t *instruction, reg_id_t reg) {
    for (int i = 0; i < count; i++) {
        opnd_t one = operand(instruction, (uint)i);
        if (opnd_is_reg(one) && opnd_get_reg(one) == reg)
            return true;
    }
    return false;
}

// The register by which an operand in memory is addressed.
static reg_id_t base_of(instr_t *instruction) {
    for (int i = 0; i < instr_num_srcs(instruction) + instr_num_dsts(instruction); i++) {
        int sources = instr_num_srcs(instruction);
        opnd_t operand =
            i < sources ? instr_get_src(instruction, (uint)i) : instr_get_dst(instruction, (uint)(i - sources));
        if (opnd_is_base_disp(operand))
            return opnd_get_base(operand);
    }
    return DR_REG_NULL;
}

// The register that is moved on by the last source, before or after the access, and by how much.
static reg_id_t written_back(instr_t *instruction, int64_t *distance) {
    int last = instr_num_srcs(instruction) - 1;
    reg_id_t base = base_of(instruction);
    if (!writes_back(instr_get_opcode(instruction)) || base == DR_REG_NULL || !is_immediate(instruction, last) ||
        !has_register(instr_get_dst, instr_num_dsts(instruction), instruction, base) ||
        !has_register(instr_get_src, last, instruction, base))
        return DR_REG_NULL;
    *distance = immediate(instruction, last);
    return base;
}

void execute(struct planner *planner, instr_t *instruction) {
    if (follow(planner, instruction))
        return;
    int64_t distance = 0;
    reg_id_t base = written_back(instruction, &distance);
    struct held held = {.offset = 0};
    if (base != DR_REG_NULL)
        held = *held_by(planner, base);
    forget_targets(planner, instruction);
    if (base == DR_REG_NULL)
        return;
    held.offset += distance;
    *held_by(planner, base) = held;
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

// Registers for the cursor and two others. The stack pointer and the one that DynamoRIO uses itself can't be stored as
// they are.
bool can_repeat(const struct plan *plan) {
    uint32_t special = 1u << (DR_REG_XSP - DR_REG_START_64) | 1u << (dr_get_stolen_reg() - DR_REG_START_64);
    return (plan->mentioned & special) == 0 && __builtin_popcount(plan->mentioned | special) <= REGISTERS - 3;
}

bool can_leave_within(instr_t *branch) {
    (void)branch;
    return false;
}

bool can_be_left_out(instr_t *branch) {
    (void)branch;
    return false;
}

bool may_be_added(instr_t *instruction) {
    (void)instruction;
    return false;
}

bool leaves_a_register(uint32_t mentioned) {
    (void)mentioned;
    return false;
}
