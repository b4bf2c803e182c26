// Where a signal handler's context goes on.
#include "runtime.h"

#include <dlfcn.h>
#include <ucontext.h>

static struct place place_in(const mcontext_t *machine) {
#if defined(__x86_64__)
    return (struct place){(uintptr_t)machine->gregs[REG_RIP], (uintptr_t)machine->gregs[REG_RSP]};
#elif defined(__aarch64__)
    return (struct place){machine->pc, machine->sp};
#elif defined(__riscv)
    return (struct place){machine->__gregs[REG_PC], machine->__gregs[REG_SP]};
#elif defined(__powerpc64__)
    enum { STACK_POINTER = 1, NEXT_INSTRUCTION = 32 };
    return (struct place){machine->gp_regs[NEXT_INSTRUCTION], machine->gp_regs[STACK_POINTER]};
#endif
}

struct place __trackway_place_of(const void *context) {
    return context ? place_in(&((const ucontext_t *)context)->uc_mcontext) : (struct place){0, 0};
}

bool __trackway_is_on_alternate_stack(const void *context, const void *there) {
    if (!context)
        return false;
    const stack_t *alternate = &((const ucontext_t *)context)->uc_stack;
    return (uintptr_t)there - (uintptr_t)alternate->ss_sp < alternate->ss_size;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

// The sorted table of functions that linkers make for the unwinding of exceptions (section .eh_frame_hdr), in the only
// encoding that they use. Starts are relative to the table.
struct function_table {
    uint8_t version;
    uint8_t encodings[3];
    int32_t frames;
    uint32_t count;
    struct {
        int32_t start;
        int32_t frame;
    } entries[];
};

static const struct function_table *table_for(uintptr_t address) {
    struct dl_find_object object;
    if (_dl_find_object((void *)address, &object) != 0)
        return NULL;
    const struct function_table *table = object.dlfo_eh_frame;
    bool readable = table && table->version == 1 && table->encodings[0] == 0x1b && table->encodings[1] == 0x03 &&
                    table->encodings[2] == 0x3b;
    return readable ? table : NULL;
}

// 0 if it is not known.
static uintptr_t start_of_function(uintptr_t address) {
    const struct function_table *table = table_for(address);
    if (!table)
        return 0;
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)table + (uintptr_t)(intptr_t)table->entries[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (uintptr_t)table + (uintptr_t)(intptr_t)table->entries[low - 1].start : 0;
}

#else // a C library before 2.35

static uintptr_t start_of_function(uintptr_t address) {
    (void)address;
    return 0;
}

#endif

bool __trackway_same_function(uintptr_t one, uintptr_t other) {
    return start_of_function(one) == start_of_function(other);
}
