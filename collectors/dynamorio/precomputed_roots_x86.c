// Roots of instructions whose accesses depend on more than their addresses, worked out by a call before them.
#include "client.h"
#include "masks_x86.h"

#include <string.h>

enum { DIRECTION_FLAG = 1 << 10 };

struct machine {
    dr_mcontext_t registers;
    uint64_t *root; // the first one that is told
};

static uint64_t general(const dr_mcontext_t *registers, uint8_t number) {
    return reg_get_value((reg_id_t)(DR_REG_START_64 + number), (dr_mcontext_t *)registers);
}

// How many elements are compared until the instruction ends: `while_equal` for those that go on as long as they match.
static uint64_t compared(const dr_mcontext_t *registers, uint8_t bytes, bool scans, bool while_equal, int64_t step) {
    uint64_t one = scans ? registers->xax : 0, other = 0, count = registers->xcx;
    const unsigned char *at = (const unsigned char *)registers->xdi, *beside = (const unsigned char *)registers->xsi;
    for (uint64_t i = 0; i < count; i++, at += step * bytes, beside += step * bytes) {
        if (!dr_safe_read(at, bytes, &other, NULL) || (!scans && !dr_safe_read(beside, bytes, &one, NULL)))
            return i; // the instruction will fault there
        if ((memcmp(&one, &other, bytes) == 0) != while_equal)
            return i + 1;
    }
    return count;
}

static void tell_repeated(struct machine *machine, const struct told *told) {
    const dr_mcontext_t *registers = &machine->registers;
    int64_t step = registers->xflags & DIRECTION_FLAG ? -1 : 1;
    uint64_t count = registers->xcx;
    switch (told->opcode) {
    case OP_rep_cmps:
        count = compared(registers, told->element_bytes, false, true, step);
        break;
    case OP_repne_cmps:
        count = compared(registers, told->element_bytes, false, false, step);
        break;
    case OP_rep_scas:
        count = compared(registers, told->element_bytes, true, true, step);
        break;
    case OP_repne_scas:
        count = compared(registers, told->element_bytes, true, false, step);
        break;
    default:
        break;
    }
    machine->root[0] = count;
    machine->root[1] = (uint64_t)step;
}

// Bit `lane` of a mask register, or the highest bit of the lane of a vector register.
static bool takes_lane(const dr_mcontext_t *registers, const struct told *told, uint32_t lane) {
    if (told->mask & OPMASK)
        return registers->opmask[told->mask & ~OPMASK] >> lane & 1;
    const unsigned char *vector = (const unsigned char *)&registers->simd[told->mask];
    return vector[(lane + 1) * told->element_bytes - 1] >> 7;
}

static int64_t index_of(const dr_mcontext_t *registers, const struct told *told, uint32_t lane) {
    const unsigned char *vector = (const unsigned char *)&registers->simd[told->index] + lane * told->index_bytes;
    int32_t narrow;
    int64_t wide;
    memcpy(&narrow, vector, sizeof narrow);
    if (told->index_bytes == sizeof narrow)
        return narrow;
    memcpy(&wide, vector, sizeof wide);
    return wide;
}

static void tell_gathered(struct machine *machine, const struct told *told) {
    const dr_mcontext_t *registers = &machine->registers;
    uint64_t mask = 0, base = told->base == REGISTERS ? 0 : general(registers, told->base);
    for (uint32_t lane = 0; lane < told->lanes; lane++) {
        mask |= (uint64_t)takes_lane(registers, told, lane) << lane;
        machine->root[1 + lane] = base + (uint64_t)(index_of(registers, told, lane) * told->scale + told->displacement);
    }
    machine->root[0] = mask;
}

// A packed access takes its first lanes, as many as the mask has bits.
static void tell_masked(struct machine *machine, const struct told *told) {
    uint64_t taken = 0;
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < told->mask_lanes; lane++) {
        if (!takes_lane(&machine->registers, told, lane))
            continue;
        taken |= UINT64_C(1) << (told->is_packed ? count : lane % told->lanes);
        count++;
    }
    machine->root[0] = taken;
}

// How many roots.
static uint32_t tell_form(struct machine *machine, const struct told *told) {
    switch (told->form) {
    case TRACKWAY_REPEATED:
        tell_repeated(machine, told);
        return 2;
    case TRACKWAY_MASKED:
        tell_masked(machine, told);
        return 1;
    default:
        tell_gathered(machine, told);
        return 1u + told->lanes;
    }
}

void tell(uint64_t first, uint64_t second) {
    uint64_t words[2] = {first, second};
    struct told told;
    memcpy(&told, words, sizeof told);
    void *context = dr_get_current_drcontext();
    struct machine machine = {.registers = {.size = sizeof machine.registers}};
    machine.registers.flags = DR_MC_INTEGER | DR_MC_CONTROL | (told.form == TRACKWAY_REPEATED ? 0 : DR_MC_MULTIMEDIA);
    dr_get_mcontext(context, &machine.registers);
    unsigned char *record = (unsigned char *)(uintptr_t)state_of(context)->slots[SLOT_CURSOR];
    uint64_t roots[1 + 64] = {0};
    machine.root = roots;
    uint32_t count = tell_form(&machine, &told);
    memcpy(record + ID_BYTES + told.root * ROOT_BYTES, roots, count * sizeof roots[0]);
}
