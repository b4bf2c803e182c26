// What recording code calls while the program's values are in registers: when it finds its buffer full, and in
// unoptimised code for the clock.
//
// A flush preserves nearly all registers, and a dynamic linker that binds a function at its first call does not. So
// each object has its own, hidden one, which calls by the C convention the runtime that serves all.
#include "runtime.h"

__attribute__((preserve_most)) unsigned char *__trackway_flush(unsigned char *cursor) {
    return __trackway_next_buffer(cursor);
}

#ifdef __x86_64__
// For functions that must leave vector registers as they were: they would save them in frames of their own.
__attribute__((preserve_all)) unsigned char *__trackway_flush_all(unsigned char *cursor) {
    return __trackway_next_buffer(cursor);
}

// The same for code that is compiled for processors with AVX, whose vector registers are larger.
__attribute__((preserve_all, target("avx"))) unsigned char *__trackway_flush_all_avx(unsigned char *cursor) {
    return __trackway_next_buffer(cursor);
}

// Stores the clock where r10 points and changes no register.
__attribute__((naked)) void __trackway_read_clock(void) {
    __asm__("push %rax\n"
            ".cfi_adjust_cfa_offset 8\n"
            "push %rdx\n"
            ".cfi_adjust_cfa_offset 8\n"
            "rdtsc\n"
            "shl $32, %rdx\n"
            "or %rdx, %rax\n"
            "mov %rax, (%r10)\n"
            "pop %rdx\n"
            ".cfi_adjust_cfa_offset -8\n"
            "pop %rax\n"
            ".cfi_adjust_cfa_offset -8\n"
            "ret");
}
#endif
