// Roots of instructions of AArch64 that don't follow from addresses, worked out by a call before them.
#include "client.h"

#include <string.h>

// `dc zva` zeroes the aligned block in which its address lies.
void tell(uint64_t first, uint64_t second) {
    uint64_t words[2] = {first, second};
    struct told told;
    memcpy(&told, words, sizeof told);
    void *context = dr_get_current_drcontext();
    dr_mcontext_t machine = {.size = sizeof machine, .flags = DR_MC_INTEGER | DR_MC_CONTROL};
    dr_get_mcontext(context, &machine);
    uint64_t address = reg_get_value((reg_id_t)(DR_REG_START_64 + told.base), &machine);
    uint64_t start = address & ~(uint64_t)((1u << told.scale) - 1);
    unsigned char *record = (unsigned char *)(uintptr_t)state_of(context)->slots[SLOT_CURSOR];
    memcpy(record + ID_BYTES + told.root * ROOT_BYTES, &start, sizeof start);
}
