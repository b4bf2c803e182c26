// System calls without the C library: they touch neither errno nor cancellation, and can't be interposed.
#ifndef TRACKWAY_KERNEL_H
#define TRACKWAY_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long kernel_call_of_6(long number, long a, long b, long c, long d, long e, long f) {
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long kernel_call_of_6(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#elif defined(__riscv) && __riscv_xlen == 64
static inline long kernel_call_of_6(long number, long a, long b, long c, long d, long e, long f) {
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a0;
}
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
// The kernel reports a failure by a flag (summary overflow), and returns its number without a sign.
static inline long kernel_call_of_6(long number, long a, long b, long c, long d, long e, long f) {
    register long r0 __asm__("r0") = number;
    register long r3 __asm__("r3") = a;
    register long r4 __asm__("r4") = b;
    register long r5 __asm__("r5") = c;
    register long r6 __asm__("r6") = d;
    register long r7 __asm__("r7") = e;
    register long r8 __asm__("r8") = f;
    __asm__ volatile("sc\n\t"
                     "bns+ 1f\n\t"
                     "neg 3, 3\n"
                     "1:"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
                     :
                     : "r9", "r10", "r11", "r12", "cr0", "ctr", "xer", "memory");
    return r3;
}
#else
#error "Trackway runs on x86-64, AArch64, RISC-V 64 and POWER (64-bit, little-endian)"
#endif

static inline long kernel_call_of_5(long number, long a, long b, long c, long d, long e) {
    return kernel_call_of_6(number, a, b, c, d, e, 0);
}

static inline long kernel_call(long number, long a, long b, long c, long d) {
    return kernel_call_of_5(number, a, b, c, d, 0);
}

static inline bool kernel_call_failed(long result) { return result < 0 && result > -4096; }

// Shared futexes: the other side is another process.
static inline void futex_wait(uint32_t *word, uint32_t seen, long seconds) {
    long timeout[2] = {seconds, 0}; // struct timespec of 64-bit systems
    kernel_call(SYS_futex, (long)word, 0 /* FUTEX_WAIT */, seen, (long)timeout);
}

static inline void futex_wake(uint32_t *word) { kernel_call(SYS_futex, (long)word, 1 /* FUTEX_WAKE */, INT32_MAX, 0); }

// The program may bring its own clock_gettime, and record in it.
static inline uint64_t monotonic_ns(void) {
    long now[2] = {0, 0}; // struct timespec of 64-bit systems
    kernel_call(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, (long)now, 0, 0);
    return (uint64_t)now[0] * 1000000000u + (uint64_t)now[1];
}

// Whether a word of this process's memory is mapped and has a value. Unlike a load it may be tried anywhere.
static inline bool word_is_still(const uint32_t *word, uint32_t value) {
    long no_time[2] = {0, 0};
    long result = kernel_call(SYS_futex, (long)word, 128 /* FUTEX_WAIT_PRIVATE */, value, (long)no_time);
    return result != -EAGAIN && result != -EFAULT;
}

// Blocks every signal, those of the C library too, and returns the former mask.
static inline uint64_t block_signals(void) {
    uint64_t all = ~UINT64_C(0), former = 0;
    kernel_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&former, sizeof all);
    return former;
}

static inline void restore_signals(uint64_t former) {
    kernel_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&former, 0, sizeof former);
}

#endif
