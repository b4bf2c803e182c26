// Where a signal handler's context goes on, on each processor.
#ifndef REGISTERS_H
#define REGISTERS_H

#include <ucontext.h>

#if defined(__x86_64__)
#define STACK_POINTER(machine) (machine)->gregs[REG_RSP]
#define NEXT_INSTRUCTION(machine) (machine)->gregs[REG_RIP]
#elif defined(__aarch64__)
#define STACK_POINTER(machine) (machine)->sp
#define NEXT_INSTRUCTION(machine) (machine)->pc
#elif defined(__riscv)
#define STACK_POINTER(machine) (machine)->__gregs[REG_SP]
#define NEXT_INSTRUCTION(machine) (machine)->__gregs[REG_PC]
#elif defined(__powerpc64__)
#define STACK_POINTER(machine) (machine)->gp_regs[1]
#define NEXT_INSTRUCTION(machine) (machine)->gp_regs[32]
#endif

// The context goes on as if it had called a function, which doesn't return, with some room left on its stack.
static inline void go_on_in(void *context, void (*function)(void)) {
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    STACK_POINTER(machine) = ((STACK_POINTER(machine) - 1024) & -16);
#if defined(__x86_64__)
    STACK_POINTER(machine) -= 8; // the return address
#elif defined(__powerpc64__)
    machine->gp_regs[12] = (unsigned long)function; // where it takes its own address from
#endif
    NEXT_INSTRUCTION(machine) = (unsigned long)function;
}

#endif
