// What generated callers and callees share: sequences of values, their hashes, and one line of output for each.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t u64;
typedef unsigned __int128 u128;

#define UNUSED __attribute__((unused))
// Larger functions are compiled once, in a file that defines DEFINES_HELPERS.
#ifdef DEFINES_HELPERS
#define HELPER(HEAD, ...) HEAD __VA_ARGS__
#else
#define HELPER(HEAD, ...) HEAD;
#endif
#define NOINLINE __attribute__((noinline))
#define MUSTTAIL __attribute__((musttail))
#define CANARY 0x5ac3b1e70f924d68ull

HELPER(u64 mix(u64 hash, u64 value), {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
})
HELPER(u64 next(u64 *state), {
    *state += 0x632be59bd9b4e019ull;
    return mix(*state, *state >> 17);
})
HELPER(void say(const char *what, u64 seed, u64 value), {
    printf("%llu %s %016llx\n", (unsigned long long)seed, what, (unsigned long long)value);
    fflush(stdout);
})
// Leaves the pattern on the stack and in registers: code that reads what nothing wrote there gives itself away.
extern u64 pattern;
UNUSED static void litter_registers(void) {
#ifdef __x86_64__
    __asm__ volatile("movq %0, %%rax\n"
                     "movq %0, %%rcx\n"
                     "movq %0, %%rdx\n"
                     "movq %0, %%rsi\n"
                     "movq %0, %%rdi\n"
                     "movq %0, %%r8\n"
                     "movq %0, %%r9\n"
                     "movq %0, %%r10\n"
                     "movq %0, %%xmm0\n"
                     "movq %0, %%xmm1\n"
                     "movq %0, %%xmm6\n"
                     "movq %0, %%xmm7\n"
                     :
                     : "r"(pattern)
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "xmm0", "xmm1", "xmm6", "xmm7");
#endif
}
HELPER(void litter(void), {
    volatile u64 words[512];
    for (int i = 0; i < 512; i++)
        words[i] = pattern * (u64)(i + 1);
    litter_registers();
})
// The address leaves the optimiser's sight.
UNUSED static void show(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
UNUSED static u64 misplaced(const void *p, size_t alignment) {
    show(p);
    return (uintptr_t)p % alignment;
}

// How far apart the frames are that were seen since *low and *high were null.
UNUSED static u64 depth(char **low, char **high, char *frame) {
    if (!*low || frame < *low)
        *low = frame;
    if (frame > *high)
        *high = frame;
    return (u64)(*high - *low);
}

// fill_T gives an object the next values of a sequence, hash_T reads all of it but padding.
#define INTEGER(T)                                                                                                     \
    UNUSED static void fill_##T(T *p, u64 *s) { *p = (T)next(s); }                                                     \
    UNUSED static u64 hash_##T(const T *p) { return mix(1, (u64) * p); }
#define WIDE(T)                                                                                                        \
    HELPER(void fill_##T(T *p, u64 *s), {                                                                              \
        u128 high = next(s);                                                                                           \
        *p = (T)(high << 64 | next(s));                                                                                \
    })                                                                                                                 \
    HELPER(u64 hash_##T(const T *p), { return mix(mix(2, (u64)(u128) * p), (u64)((u128) * p >> 64)); })
// Multiples of 1/4, exact in all types.
#define FLOATING(T)                                                                                                    \
    UNUSED static void fill_##T(T *p, u64 *s) { *p = (T)((float)((int)(next(s) % 2001) - 1000) / 4); }                 \
    UNUSED static u64 hash_##T(const T *p) { return mix(3, (u64)(int64_t)(*p * 4)); }
#define COMPLEX(T, E)                                                                                                  \
    typedef _Complex E##_name T;                                                                                       \
    HELPER(void fill_##T(T *p, u64 *s), {                                                                              \
        fill_##E((E *)p, s);                                                                                           \
        fill_##E((E *)p + 1, s);                                                                                       \
    })                                                                                                                 \
    HELPER(u64 hash_##T(const T *p), { return mix(hash_##E((const E *)p), hash_##E((const E *)p + 1)); })
#define VECTOR(T, E, N)                                                                                                \
    typedef E T __attribute__((ext_vector_type(N)));                                                                   \
    HELPER(void fill_##T(T *p, u64 *s), {                                                                              \
        for (int i = 0; i < N; i++) {                                                                                  \
            E e;                                                                                                       \
            fill_##E(&e, s);                                                                                           \
            (*p)[i] = e;                                                                                               \
        }                                                                                                              \
    })                                                                                                                 \
    HELPER(u64 hash_##T(const T *p), {                                                                                 \
        u64 h = 4;                                                                                                     \
        for (int i = 0; i < N; i++) {                                                                                  \
            E e = (*p)[i];                                                                                             \
            h = mix(h, hash_##E(&e));                                                                                  \
        }                                                                                                              \
        return h;                                                                                                      \
    })
#define BITS(N, KIND)                                                                                                  \
    typedef _BitInt(N) bits##N;                                                                                        \
    KIND(bits##N)

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef __int128 i128;
#ifdef __cplusplus
typedef bool b1;
#else
typedef _Bool b1;
#endif
typedef float f32;
typedef double f64;
typedef long double f80;
#ifdef __FLT16_MANT_DIG__
typedef _Float16 f16;
#endif
typedef void *pointer;
typedef u64 (*function)(u64);
#define f32_name float
#define f64_name double
#define f80_name long double
#define i32_name int

INTEGER(i8)
INTEGER(u8)
INTEGER(i16)
INTEGER(u16)
INTEGER(i32)
INTEGER(u32)
INTEGER(i64)
INTEGER(u64)
INTEGER(b1)
INTEGER(pointer)
WIDE(i128)
WIDE(u128)
#ifdef __FLT16_MANT_DIG__
FLOATING(f16)
#endif
FLOATING(f32)
FLOATING(f64)
FLOATING(f80)
COMPLEX(complex32, f32)
COMPLEX(complex64, f64)
COMPLEX(complex80, f80)
COMPLEX(complexi32, i32)
VECTOR(i8x8, i8, 8)
VECTOR(i8x16, i8, 16)
VECTOR(i16x3, i16, 3)
VECTOR(i16x32, i16, 32)
VECTOR(i32x2, i32, 2)
VECTOR(i32x4, i32, 4)
VECTOR(i32x8, i32, 8)
VECTOR(i64x2, i64, 2)
VECTOR(i64x8, i64, 8)
VECTOR(f32x2, f32, 2)
VECTOR(f32x3, f32, 3)
VECTOR(f32x4, f32, 4)
VECTOR(f32x16, f32, 16)
VECTOR(f64x2, f64, 2)
VECTOR(f64x4, f64, 4)
BITS(2, INTEGER)
BITS(7, INTEGER)
BITS(17, INTEGER)
BITS(33, INTEGER)
BITS(64, INTEGER)
BITS(65, WIDE)
BITS(100, WIDE)
BITS(128, WIDE)

UNUSED static u64 doubled(u64 x) { return x * 2 + 1; }
UNUSED static u64 halved(u64 x) { return x / 2 + 5; }
UNUSED static void fill_function(function *p, u64 *s) { *p = next(s) & 1 ? doubled : halved; }
UNUSED static u64 hash_function(const function *p) { return (*p)(12345); }

#ifdef __cplusplus
struct Thrown {
    u64 hash;
};
struct Left {
    u64 left = 3;
    virtual u64 first(u64 x) { return x + left; }
    virtual ~Left() {}
};
struct Right {
    u64 right = 5;
    virtual u64 second(u64 x) { return x * right; }
    virtual ~Right() {}
};
struct Both : Left, Right {
    u64 one = 7, two = 11, three = 13;
    u64 first(u64 x) override { return x ^ one; }
    u64 second(u64 x) override { return x - two; }
    u64 third(u64 x) { return x / three; }
};
typedef u64 Both::*member;
typedef u64 (Both::*method)(u64);
HELPER(void fill_member(member *p, u64 *s), {
    static const member all[] = {&Both::one, &Both::two, &Both::three, nullptr};
    *p = all[next(s) % 4];
})
HELPER(u64 hash_member(const member *p), {
    Both object;
    return *p ? object.**p : 17;
})
HELPER(void fill_method(method *p, u64 *s), {
    static const method all[] = {&Both::first, &Both::second, &Both::third, nullptr};
    *p = all[next(s) % 4];
})
HELPER(u64 hash_method(const method *p), {
    Both object;
    return *p ? (object.**p)(12345) : 19;
})
#endif
