// System calls without the C library: they touch neither errno nor cancellation, and nobody can interpose them.
#ifndef TRACKWAY_KERNEL_H
#define TRACKWAY_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long kernel_call(long number, long a, long b, long c, long d) {
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long kernel_call(long number, long a, long b, long c, long d) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
#else
#error "Trackway runs on x86-64 and AArch64"
#endif

// Shared futexes: the other side is another process.
static inline void futex_wait(uint32_t *word, uint32_t seen, long seconds) {
    long timeout[2] = {seconds, 0}; // struct timespec of 64-bit systems
    kernel_call(SYS_futex, (long)word, 0 /* FUTEX_WAIT */, seen, (long)timeout);
}

static inline void futex_wake(uint32_t *word) { kernel_call(SYS_futex, (long)word, 1 /* FUTEX_WAKE */, INT32_MAX, 0); }

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
