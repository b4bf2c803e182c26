// Gathers of AVX2, with all lanes and with some.
#include <immintrin.h>
#include <stdio.h>

enum { TABLE = 4096, ROUNDS = 1000 };

static int table[TABLE];

__attribute__((target("avx2"), noinline)) static long gather_all(int round) {
    __m256i indices = _mm256_add_epi32(_mm256_setr_epi32(0, 9, 18, 27, 36, 45, 54, 63), _mm256_set1_epi32(round));
    __m256i values = _mm256_i32gather_epi32(table, indices, 4);
    return _mm256_extract_epi32(values, 0) + _mm256_extract_epi32(values, 7);
}

__attribute__((target("avx2"), noinline)) static long gather_three(int round) {
    __m256i indices = _mm256_set1_epi32(round), mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, 0, -1);
    __m256i values = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), table, indices, mask, 4);
    return _mm256_extract_epi32(values, 0) + _mm256_extract_epi32(values, 1);
}

int main(void) {
    if (!__builtin_cpu_supports("avx2"))
        return 77;
    for (int i = 0; i < TABLE; i++)
        table[i] = i;
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += gather_all(i) + gather_three(i);
    printf("%ld\n", sum);
    return 0;
}
