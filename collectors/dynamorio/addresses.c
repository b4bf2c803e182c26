// Roots, and the addresses that follow from them: those that differ by a constant need one root.
#include "planner.h"

#include <string.h>

struct held *held_by(struct planner *planner, reg_id_t reg) { return &planner->held[reg - DR_REG_START_64]; }

void *append(struct planner *planner, size_t length) {
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

uint16_t add_roots(struct planner *planner, uint32_t count) {
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

struct store *add_store(struct planner *planner, instr_t *where, enum store_kind kind, uint16_t root) {
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

void add_term(struct address *address, uint16_t root, int scale, int64_t offset_of_root) {
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

void add_register(struct planner *planner, instr_t *where, struct address *address, reg_id_t reg, int scale) {
    uint16_t root = root_of_register(planner, where, reg);
    address->constant += scale * held_by(planner, reg)->offset;
    add_term(address, root, scale, planner->root[root].offset);
}

static uint16_t root_of_sum(struct planner *planner, instr_t *where, opnd_t operand, struct held base,
                            struct held index) {
    int scale = index_scale(operand);
    uint16_t root = add_roots(planner, 1);
    int64_t offset = base.offset + scale * index.offset + opnd_get_disp(operand);
    planner->root[root] = (struct root){.base = base.value, .index = index.value, .scale = scale, .offset = offset};
    struct store *store = add_store(planner, planner->start ? planner->start : where, STORE_ADDRESS, root);
    store->operand = operand;
    if (planner->start) {
        planner->root[root].offset = 0;
        store->operand = sum_of(first_holder(base.value), first_holder(index.value), scale);
    }
    return root;
}

static void add_sum(struct planner *planner, instr_t *where, struct address *address, opnd_t operand) {
    struct held base = *held_by(planner, opnd_get_base(operand));
    struct held index = *held_by(planner, opnd_get_index(operand));
    int scale = index_scale(operand);
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

bool is_simple(opnd_t operand) {
    if (!opnd_is_base_disp(operand))
        return false;
    reg_id_t base = opnd_get_base(operand), index = opnd_get_index(operand);
    bool has_plain_index = index == DR_REG_NULL || (is_general(index) && index_scale(operand) > 0);
    return (base == DR_REG_NULL || is_general(base)) && has_plain_index;
}

struct address address_of(struct planner *planner, instr_t *where, opnd_t operand) {
    struct address address = {.constant = 0};
    if (opnd_is_rel_addr(operand) || opnd_is_abs_addr(operand)) {
        address.constant = (int64_t)opnd_get_addr(operand);
        return address;
    }
    reg_id_t base = DR_REG_NULL, index = DR_REG_NULL;
    uint16_t segment = segment_base_of(operand);
    if (is_simple(operand)) {
        base = opnd_get_base(operand);
        index = opnd_get_index(operand);
        address.constant = opnd_get_disp(operand);
    }
    if (!is_simple(operand) || (segment && base != DR_REG_NULL && index != DR_REG_NULL)) {
        add_whole(planner, where, &address, operand);
        return address;
    }
    if (segment)
        add_term(&address, segment, 1, 0);
    bool has_both = base != DR_REG_NULL && index != DR_REG_NULL;
    if (has_both && find_register(planner, base) < 0 && find_register(planner, index) < 0) {
        add_sum(planner, where, &address, operand);
        return address;
    }
    if (base != DR_REG_NULL)
        add_register(planner, where, &address, base, 1);
    if (index != DR_REG_NULL)
        add_register(planner, where, &address, index, index_scale(operand));
    return address;
}

struct trackway_access *add_access(struct planner *planner, bool writes, uint32_t size, const struct address *address) {
    struct trackway_access *access = append(planner, sizeof *access);
    access->constant = address->constant;
    access->size = size;
    access->writes = writes;
    access->terms = (uint8_t)address->terms;
    memcpy(access->root, address->root, sizeof access->root);
    memcpy(access->scale, address->scale, sizeof access->scale);
    return access;
}
