// Follows the values of registers through a block: addresses that differ by a constant need one root.
#include "plan.h"

#include "drutil.h"

#include <string.h>

enum { NO_VALUE = 0xffff };

// A register holds the value that another one, or it itself, had at some time, plus a constant.
struct held {
    uint32_t value;
    int64_t offset;
};

// What a root holds: the sum of up to two values and a constant. One of segment bases and the like is never shared.
struct root {
    uint32_t base, index; // values, or NO_VALUE
    int scale;
    int64_t offset;
};

struct planner {
    void *context;
    struct plan *plan;
    struct held held[REGISTERS];
    uint32_t next_value;
    struct root root[MOST_ROOTS];
    instr_t *start; // roots are stored there, in terms of the registers' first values; none: where they are needed
    bool failed;
};

struct address {
    int64_t constant;
    uint32_t terms;
    uint16_t root[TRACKWAY_MOST_TERMS];
    int8_t scale[TRACKWAY_MOST_TERMS];
};

static struct held *held_by(struct planner *planner, reg_id_t reg) { return &planner->held[reg - DR_REG_START_64]; }

static void *append(struct planner *planner, size_t length) {
    struct plan *plan = planner->plan;
    if (plan->definition_length + length > sizeof plan->definition) {
        planner->failed = true;
        plan->definition_length = sizeof(struct trackway_block);
    }
    void *place = plan->definition + plan->definition_length;
    memset(place, 0, length);
    plan->definition_length += length;
    return place;
}

// The first of so many new roots.
static uint16_t add_roots(struct planner *planner, uint32_t count) {
    struct plan *plan = planner->plan;
    if (plan->roots + count > MOST_ROOTS) {
        planner->failed = true;
        return 0;
    }
    uint16_t first = (uint16_t)plan->roots;
    for (uint32_t i = 0; i < count; i++)
        planner->root[first + i] = (struct root){.base = NO_VALUE, .index = NO_VALUE};
    plan->roots += count;
    return first;
}

static struct store *add_store(struct planner *planner, instr_t *where, enum store_kind kind, uint16_t root) {
    struct store *store = &planner->plan->store[planner->plan->stores];
    *store = (struct store){.where = where, .kind = kind, .root = root};
    if (planner->plan->stores < MOST_ROOTS - 1)
        planner->plan->stores++;
    return store;
}

static int find_root(const struct planner *planner, uint32_t base, uint32_t index, int scale) {
    for (uint32_t i = 0; i < planner->plan->roots; i++) {
        const struct root *root = &planner->root[i];
        if (root->base == base && root->index == index && root->scale == scale)
            return (int)i;
    }
    return -1;
}

static void add_term(struct address *address, uint16_t root, int scale, int64_t offset_of_root) {
    address->root[address->terms] = root;
    address->scale[address->terms++] = (int8_t)scale;
    address->constant -= scale * offset_of_root;
}

static int find_register(struct planner *planner, reg_id_t reg) {
    return find_root(planner, held_by(planner, reg)->value, NO_VALUE, 0);
}

// The register that held the value when the block began.
static reg_id_t first_holder(uint32_t value) { return (reg_id_t)(DR_REG_START_64 + value); }

static uint16_t root_of_register(struct planner *planner, instr_t *where, reg_id_t reg) {
    int known = find_register(planner, reg);
    if (known >= 0)
        return (uint16_t)known;
    uint16_t root = add_roots(planner, 1);
    const struct held *held = held_by(planner, reg);
    bool at_start = planner->start != NULL;
    planner->root[root] = (struct root){.base = held->value, .index = NO_VALUE, .offset = at_start ? 0 : held->offset};
    struct store *store = add_store(planner, at_start ? planner->start : where, STORE_REGISTER, root);
    store->reg = at_start ? first_holder(held->value) : reg;
    return root;
}

static void add_register(struct planner *planner, instr_t *where, struct address *address, reg_id_t reg, int scale) {
    uint16_t root = root_of_register(planner, where, reg);
    address->constant += scale * held_by(planner, reg)->offset;
    add_term(address, root, scale, planner->root[root].offset);
}

static uint16_t root_of_sum(struct planner *planner, instr_t *where, opnd_t operand, struct held base,
                            struct held index) {
    int scale = opnd_get_scale(operand);
    uint16_t root = add_roots(planner, 1);
    int64_t offset = base.offset + scale * index.offset + opnd_get_disp(operand);
    planner->root[root] = (struct root){.base = base.value, .index = index.value, .scale = scale, .offset = offset};
    struct store *store = add_store(planner, planner->start ? planner->start : where, STORE_ADDRESS, root);
    store->operand = operand;
    if (planner->start) {
        planner->root[root].offset = 0;
        store->operand = opnd_create_base_disp(first_holder(base.value), first_holder(index.value), scale, 0, OPSZ_8);
    }
    return root;
}

static void add_sum(struct planner *planner, instr_t *where, struct address *address, opnd_t operand) {
    struct held base = *held_by(planner, opnd_get_base(operand));
    struct held index = *held_by(planner, opnd_get_index(operand));
    int scale = opnd_get_scale(operand);
    int known = find_root(planner, base.value, index.value, scale);
    uint16_t root = known >= 0 ? (uint16_t)known : root_of_sum(planner, where, operand, base, index);
    address->constant += base.offset + scale * index.offset;
    add_term(address, root, 1, planner->root[root].offset);
}

static void add_whole(struct planner *planner, instr_t *where, struct address *address, opnd_t operand) {
    uint16_t root = add_roots(planner, 1);
    add_store(planner, where, STORE_ADDRESS, root)->operand = operand;
    *address = (struct address){.constant = 0};
    add_term(address, root, 1, 0);
}

static bool is_simple(opnd_t operand) {
    if (!opnd_is_base_disp(operand))
        return false;
    reg_id_t base = opnd_get_base(operand), index = opnd_get_index(operand);
    return (base == DR_REG_NULL || is_general(base)) && (index == DR_REG_NULL || is_general(index));
}

static bool is_of_segment(opnd_t operand) {
    if (!opnd_is_far_memory_reference(operand))
        return false;
    reg_id_t segment = opnd_get_segment(operand);
    return segment == DR_SEG_FS || segment == DR_SEG_GS;
}

static struct address address_of(struct planner *planner, instr_t *where, opnd_t operand) {
    struct address address = {.constant = 0};
    if (opnd_is_rel_addr(operand) || opnd_is_abs_addr(operand)) {
        address.constant = (int64_t)opnd_get_addr(operand);
        return address;
    }
    reg_id_t base = DR_REG_NULL, index = DR_REG_NULL;
    bool of_segment = is_of_segment(operand);
    if (is_simple(operand)) {
        base = opnd_get_base(operand);
        index = opnd_get_index(operand);
        address.constant = opnd_get_disp(operand);
    }
    if (!is_simple(operand) || (of_segment && base != DR_REG_NULL && index != DR_REG_NULL)) {
        add_whole(planner, where, &address, operand);
        return address;
    }
    if (of_segment)
        add_term(&address, opnd_get_segment(operand) == DR_SEG_FS ? TRACKWAY_FS_BASE : TRACKWAY_GS_BASE, 1, 0);
    bool has_both = base != DR_REG_NULL && index != DR_REG_NULL;
    if (has_both && find_register(planner, base) < 0 && find_register(planner, index) < 0) {
        add_sum(planner, where, &address, operand);
        return address;
    }
    if (base != DR_REG_NULL)
        add_register(planner, where, &address, base, 1);
    if (index != DR_REG_NULL)
        add_register(planner, where, &address, index, opnd_get_scale(operand));
    return address;
}

static struct trackway_access *add_access(struct planner *planner, bool writes, uint32_t size,
                                          const struct address *address) {
    struct trackway_access *access = append(planner, sizeof *access);
    access->constant = address->constant;
    access->size = size;
    access->writes = writes;
    access->terms = (uint8_t)address->terms;
    memcpy(access->root, address->root, sizeof access->root);
    memcpy(access->scale, address->scale, sizeof access->scale);
    return access;
}

// ---- Instructions whose accesses depend on more than their addresses -----------------------------------------------

static uint32_t size_of(instr_t *instruction, opnd_t operand) {
    return drutil_opnd_mem_size_in_bytes(operand, instruction);
}

// Calls `take` for each operand in memory, those that are read first.
typedef void take_operand(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *more);

static void each_operand(struct planner *planner, instr_t *instruction, take_operand *take, void *more) {
    if (instr_reads_memory(instruction))
        for (int i = 0; i < instr_num_srcs(instruction); i++)
            if (opnd_is_memory_reference(instr_get_src(instruction, i)))
                take(planner, instruction, instr_get_src(instruction, i), false, more);
    if (instr_writes_memory(instruction))
        for (int i = 0; i < instr_num_dsts(instruction); i++)
            if (opnd_is_memory_reference(instr_get_dst(instruction, i)))
                take(planner, instruction, instr_get_dst(instruction, i), true, more);
}

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

static reg_id_t mask_of(instr_t *instruction) {
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

static uint8_t simd_number(reg_id_t reg) { return (uint8_t)(reg_resize_to_opsz(reg, OPSZ_64) - DR_REG_START_ZMM); }

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
        .mask = is_vector_mask ? simd_number(mask) : (uint8_t)(0x80 | (mask - DR_REG_START_OPMASK)),
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

static void take_plain(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *unused) {
    (void)unused;
    struct address address = address_of(planner, instruction, operand);
    uint32_t size = size_of(instruction, operand);
    if (size > 0)
        add_access(planner, writes, size, &address);
}

static bool repeats(instr_t *instruction) {
    return instr_is_rep_string_op(instruction) && instr_get_opcode(instruction) != OP_rep_ins &&
           instr_get_opcode(instruction) != OP_rep_outs;
}

// ---- What instructions do to registers -----------------------------------------------------------------------------

static void move_by(struct planner *planner, reg_id_t reg, int64_t distance) {
    held_by(planner, reg)->offset += distance;
}

static void forget(struct planner *planner, reg_id_t reg) {
    *held_by(planner, reg) = (struct held){.value = planner->next_value++};
}

// The general register that is the instruction's only target, and wholly written; else none.
static reg_id_t only_target(instr_t *instruction) {
    if (instr_num_dsts(instruction) != 1 || !opnd_is_reg(instr_get_dst(instruction, 0)))
        return DR_REG_NULL;
    reg_id_t reg = opnd_get_reg(instr_get_dst(instruction, 0));
    return is_general(reg) ? reg : DR_REG_NULL;
}

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

// By how much the stack pointer moves beside what is written to it as a register.
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

static void execute(struct planner *planner, instr_t *instruction) {
    if (follow(planner, instruction))
        return;
    bool leaves = instr_get_opcode(instruction) == OP_leave;
    int64_t stack = leaves ? 8 : stack_moves_by(instruction);
    struct held stack_pointer = *held_by(planner, leaves ? DR_REG_RBP : DR_REG_RSP);
    for (reg_id_t reg = DR_REG_START_64; reg < DR_REG_START_64 + REGISTERS; reg++)
        if (instr_writes_to_reg(instruction, reg, DR_QUERY_INCLUDE_ALL))
            forget(planner, reg);
    bool pops_stack_pointer = instr_get_opcode(instruction) == OP_pop && opnd_is_reg(instr_get_dst(instruction, 0)) &&
                              opnd_get_reg(instr_get_dst(instruction, 0)) == DR_REG_RSP;
    if (stack != 0 && !pops_stack_pointer) {
        stack_pointer.offset += stack;
        *held_by(planner, DR_REG_RSP) = stack_pointer;
    }
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

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

static uint32_t registers_mentioned(instr_t *instruction) {
    uint32_t mentioned = 0;
    for (reg_id_t reg = DR_REG_START_64; reg < DR_REG_START_64 + REGISTERS; reg++)
        if (instr_uses_reg(instruction, reg))
            mentioned |= 1u << (reg - DR_REG_START_64);
    return mentioned;
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
    if (repeats(instruction))
        plan_repeated(planner, instruction);
    else if (instr_is_gather(instruction) || instr_is_scatter(instruction))
        each_operand(planner, instruction, take_gathered, NULL);
    else
        each_operand(planner, instruction, take_plain, NULL);
    if (planner->failed)
        return;
    uint32_t bytes = planner->plan->definition_length - place - (uint32_t)sizeof *head;
    head->accesses = (uint16_t)(bytes / sizeof(struct trackway_access));
    planner->plan->mentioned |= registers_mentioned(instruction);
    execute(planner, instruction);
}

static void plan_all(struct planner *planner, instrlist_t *block) {
    struct plan *plan = planner->plan;
    plan->id = plan->roots = plan->stores = plan->next = plan->mentioned = 0;
    plan->repeats = plan->is_checked = false;
    plan->definition_length = 0;
    planner->next_value = REGISTERS;
    for (uint32_t i = 0; i < REGISTERS; i++)
        planner->held[i] = (struct held){.value = i};
    uint32_t instructions = 0;
    append(planner, sizeof(struct trackway_block));
    for (instr_t *instruction = instrlist_first_app(block); instruction && !planner->failed;
         instruction = instr_get_next_app(instruction), instructions++)
        plan_instruction(planner, instruction);
    *(struct trackway_block *)plan->definition =
        (struct trackway_block){.head = {.kind = TRACKWAY_BLOCK}, .instructions = instructions};
}

static bool goes_back_to_itself(instrlist_t *block) {
    instr_t *first = instrlist_first_app(block), *last = instrlist_last_app(block);
    return first && instr_is_cbr(last) && opnd_is_pc(instr_get_target(last)) &&
           opnd_get_pc(instr_get_target(last)) == instr_get_app_pc(first);
}

// By how much a value that a register held at the block's begin has moved in it at its end. False if it isn't there.
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
    struct trackway_block *head = (struct trackway_block *)plan->definition;
    head->head.length = plan->definition_length;
    head->roots = plan->roots;
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
    if (!planner->failed && goes_back_to_itself(block) && all_move_on(planner) &&
        has_registers(plan, 2)) // for the cursor and for sums
        plan_repetition(planner, block);
    finish(planner);
}

void plan_part_of_repeated(void *context, instrlist_t *block, struct plan *plan) {
    struct planner *planner = begin(context, plan);
    planner->start = instrlist_first_app(block);
    plan_all(planner, block);
    finish(planner);
}
