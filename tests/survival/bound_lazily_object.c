// More variables than are preserved by ordinary calls.
#include <stdint.h>

uint64_t stir(const uint32_t *one, const uint32_t *other, uint32_t rounds, uint64_t seed) {
    uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed * 3, e = seed * 5, f = seed * 7, g = seed ^ 11,
             h = seed ^ 13;
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t x = one[(a ^ i) % 64], y = other[(b + x) % 64];
        a += x * d;
        b ^= y + e;
        c += f ^ x;
        d = d * 3 + y;
        e += g;
        f ^= h + x;
        g += c;
        h ^= a;
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}
