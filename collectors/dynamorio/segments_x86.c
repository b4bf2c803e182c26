// Segments of x86-64, by which a thread finds its own data.
#include "client.h"

#include <sys/syscall.h>

static uint64_t base_of(reg_id_t segment) {
    dr_mcontext_t machine = {.size = sizeof machine, .flags = DR_MC_CONTROL | DR_MC_INTEGER};
    opnd_t operand = opnd_create_far_base_disp(segment, DR_REG_NULL, DR_REG_NULL, 0, 0, OPSZ_8);
    return (uint64_t)(uintptr_t)opnd_compute_address(operand, &machine);
}

void read_segment_bases(uint64_t bases[2]) {
    bases[0] = base_of(DR_SEG_FS);
    bases[1] = base_of(DR_SEG_GS);
}

bool changes_segment_bases(int system_call) { return system_call == SYS_arch_prctl; }
