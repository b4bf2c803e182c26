// Instructions with masks. `masked_moves SET measure` prints how many accesses, and of how many bytes, each makes of
// the processor's own accord: of a load, which bytes must be accessible for it not to fault; of a store, which bytes it
// changes. `masked_moves SET run` executes them for the same masks. SET is avx2 or avx512.
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, LANES = 64, ROUNDS = 10 };
enum kind { LOAD, PACKED_LOAD, STORE };

// Memory is at %rdi; masks in %k1, and in the highest bits of the lanes of %ymm3; what is stored is all ones.
#define AVX2_FORMS                                                                                                     \
    FORM(maskmovps_load, 4, LOAD, "vmaskmovps (%rdi), %ymm3, %ymm4")                                                   \
    FORM(maskmovps_store, 4, STORE, "vmaskmovps %ymm4, %ymm3, (%rdi)")                                                 \
    FORM(maskmovpd_load, 8, LOAD, "vmaskmovpd (%rdi), %xmm3, %xmm4")                                                   \
    FORM(maskmovpd_store, 8, STORE, "vmaskmovpd %xmm4, %xmm3, (%rdi)")                                                 \
    FORM(pmaskmovd_load, 4, LOAD, "vpmaskmovd (%rdi), %xmm3, %xmm4")                                                   \
    FORM(pmaskmovd_store, 4, STORE, "vpmaskmovd %xmm4, %xmm3, (%rdi)")                                                 \
    FORM(pmaskmovq_load, 8, LOAD, "vpmaskmovq (%rdi), %ymm3, %ymm4")                                                   \
    FORM(pmaskmovq_store, 8, STORE, "vpmaskmovq %ymm4, %ymm3, (%rdi)")                                                 \
    FORM(maskmovdqu, 1, STORE, "maskmovdqu %xmm3, %xmm4")                                                              \
    FORM(vmaskmovdqu, 1, STORE, "vmaskmovdqu %xmm3, %xmm4")

#define AVX512_FORMS                                                                                                   \
    FORM(movups_load, 4, LOAD, "vmovups (%rdi), %zmm5{%k1}")                                                           \
    FORM(movups_zeroing, 4, LOAD, "vmovups (%rdi), %ymm5{%k1}{z}")                                                     \
    FORM(movups_store, 4, STORE, "vmovups %zmm4, (%rdi){%k1}")                                                         \
    FORM(movdqa64_store, 8, STORE, "vmovdqa64 %ymm4, (%rdi){%k1}")                                                     \
    FORM(movdqu8_load, 1, LOAD, "vmovdqu8 (%rdi), %zmm5{%k1}{z}")                                                      \
    FORM(movdqu8_store, 1, STORE, "vmovdqu8 %zmm4, (%rdi){%k1}")                                                       \
    FORM(movdqu16_store, 2, STORE, "vmovdqu16 %xmm4, (%rdi){%k1}")                                                     \
    FORM(movss_load, 4, LOAD, "vmovss (%rdi), %xmm5{%k1}{z}")                                                          \
    FORM(movsd_store, 8, STORE, "vmovsd %xmm4, (%rdi){%k1}")                                                           \
    FORM(addps, 4, LOAD, "vaddps (%rdi), %zmm5, %zmm5{%k1}")                                                           \
    FORM(addpd_broadcast, 8, LOAD, "vaddpd (%rdi){1to8}, %zmm5, %zmm5{%k1}")                                           \
    FORM(addss, 4, LOAD, "vaddss (%rdi), %xmm5, %xmm5{%k1}")                                                           \
    FORM(fmadd, 8, LOAD, "vfmadd231pd (%rdi), %ymm5, %ymm5{%k1}")                                                      \
    FORM(pcmpd, 4, LOAD, "vpcmpeqd (%rdi), %zmm5, %k2{%k1}")                                                           \
    FORM(pblendmd, 4, LOAD, "vpblendmd (%rdi), %zmm5, %zmm5{%k1}")                                                     \
    FORM(fpclass_broadcast, 4, LOAD, "vfpclassps $1, (%rdi){1to4}, %k2{%k1}")                                          \
    FORM(cvtdq2pd_broadcast, 4, LOAD, "vcvtdq2pd (%rdi){1to8}, %zmm5{%k1}")                                            \
    FORM(cvtpd2ps, 8, LOAD, "vcvtpd2ps (%rdi), %ymm5{%k1}")                                                            \
    FORM(pmovzxbd, 1, LOAD, "vpmovzxbd (%rdi), %zmm5{%k1}")                                                            \
    FORM(pmovdb, 1, STORE, "vpmovdb %zmm4, (%rdi){%k1}")                                                               \
    FORM(broadcastss, 4, LOAD, "vbroadcastss (%rdi), %zmm5{%k1}")                                                      \
    FORM(broadcast_four, 4, LOAD, "vbroadcastf32x4 (%rdi), %zmm5{%k1}")                                                \
    FORM(pslld_by_constant, 4, LOAD, "vpslld $1, (%rdi), %zmm5{%k1}")                                                  \
    FORM(pslld_by_memory, 16, LOAD, "vpslld (%rdi), %zmm5, %zmm5{%k1}")                                                \
    FORM(movddup, 8, LOAD, "vmovddup (%rdi), %xmm5{%k1}")                                                              \
    FORM(insert, 32, LOAD, "vinserti64x4 $1, (%rdi), %zmm5, %zmm5{%k1}")                                               \
    FORM(permd, 64, LOAD, "vpermd (%rdi), %zmm5, %zmm5{%k1}")                                                          \
    FORM(extract, 4, STORE, "vextractf32x4 $1, %zmm4, (%rdi){%k1}")                                                    \
    FORM(compress, 4, STORE, "vpcompressd %zmm4, (%rdi){%k1}")                                                         \
    FORM(expand, 8, PACKED_LOAD, "vexpandpd (%rdi), %zmm5{%k1}{z}")

#define ASSEMBLE(name, prepare, text)                                                                                  \
    __asm__(".pushsection .text\n.globl form_" #name "\nform_" #name ":\n" prepare "\naccess_" #name ": " text         \
            "\nret\n.popsection\n");

#define FORM(name, bytes, kind, text)                                                                                  \
    ASSEMBLE(name, "vmovdqu (%rdx), %ymm3\nvpcmpeqd %ymm4, %ymm4, %ymm4", text)                                        \
    void form_##name(void *memory, uint64_t mask, const void *lanes);
AVX2_FORMS
#undef FORM

#define FORM(name, bytes, kind, text)                                                                                  \
    ASSEMBLE(name, "kmovq %rsi, %k1\nvpternlogd $255, %zmm4, %zmm4, %zmm4", text)                                      \
    void form_##name(void *memory, uint64_t mask, const void *lanes);
AVX512_FORMS
#undef FORM

struct form {
    const char *name;
    void (*execute)(void *memory, uint64_t mask, const void *lanes);
    uint32_t bytes; // of an access
    enum kind kind;
};

#define FORM(name, bytes, kind, text) {#name, form_##name, bytes, kind},
static const struct form avx2_forms[] = {AVX2_FORMS{NULL, NULL, 0, LOAD}};
static const struct form avx512_forms[] = {AVX512_FORMS{NULL, NULL, 0, LOAD}};
#undef FORM

static const uint64_t masks[] = {0,      ~UINT64_C(0),      1,  0x2222, UINT64_C(0xf00f00f0f00f0f01),
                                 0x8080, UINT64_C(1) << 63, 0xe};
enum { MASKS = sizeof masks / sizeof masks[0] };

static sigjmp_buf before;

static void fault(int signal) {
    (void)signal;
    siglongjmp(before, 1);
}

static void execute(const struct form *form, unsigned char *memory, uint64_t mask) {
    _Alignas(32) unsigned char lanes[LANES * LANES] = {0};
    for (uint32_t i = 0; i < LANES; i++)
        lanes[(i + 1) * form->bytes - 1] = mask >> i & 1 ? 0x80 : 0;
    form->execute(memory, mask, lanes);
}

static bool faults(const struct form *form, unsigned char *memory, uint64_t mask) {
    if (sigsetjmp(before, 1))
        return true;
    execute(form, memory, mask);
    return false;
}

// The bytes that are read, as bits: those from the first to the last one that must be accessible.
static uint64_t hull(const struct form *form, unsigned char *page, uint64_t mask) {
    int first = -1, last = -1;
    for (int i = 0; i < 64; i++)
        if (faults(form, page + PAGE - i, mask))
            last = i;
    for (int i = 63; i >= 0; i--)
        if (faults(form, page - i - 1, mask))
            first = i;
    return last < 0 ? 0 : ~UINT64_C(0) >> (63 - last) & ~UINT64_C(0) << first;
}

static uint64_t bytes_read(const struct form *form, unsigned char *page, uint64_t mask) {
    uint64_t bytes = hull(form, page, form->kind == PACKED_LOAD ? mask : 0);
    for (uint32_t i = 0; i < LANES && form->kind == LOAD; i++)
        if (mask >> i & 1)
            bytes |= hull(form, page, UINT64_C(1) << i);
    return bytes;
}

static uint64_t bytes_written(const struct form *form, unsigned char *page, uint64_t mask) {
    uint64_t bytes = 0;
    memset(page, 0, LANES);
    execute(form, page, mask);
    for (int i = 0; i < LANES; i++)
        bytes |= (uint64_t)(page[i] != 0) << i;
    return bytes;
}

static void measure(const struct form *form, unsigned char *page) {
    unsigned count = 0;
    for (int i = 0; i < MASKS; i++)
        count += (unsigned)__builtin_popcountll(form->kind == STORE ? bytes_written(form, page, masks[i])
                                                                    : bytes_read(form, page, masks[i]));
    printf("%s %u %u\n", form->name, ROUNDS * count / form->bytes, ROUNDS * count);
}

static void run(const struct form *form, unsigned char *page) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < MASKS; i++)
            execute(form, page, masks[i]);
}

static bool is_supported(bool wide) {
    return __builtin_cpu_supports("avx2") &&
           (!wide || (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")));
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    bool wide = strcmp(argv[1], "avx512") == 0;
    if (!is_supported(wide))
        return 77;
    struct sigaction action = {.sa_handler = fault};
    sigaction(SIGSEGV, &action, NULL);
    unsigned char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *page = pages + PAGE;
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    for (const struct form *form = wide ? avx512_forms : avx2_forms; form->name; form++)
        (strcmp(argv[2], "run") == 0 ? run : measure)(form, page);
    return 0;
}
