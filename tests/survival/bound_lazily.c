// The shared object fills a buffer where it has much in registers: its first call of the runtime must leave them alone.
#include <stdint.h>
#include <stdio.h>

uint64_t stir(const uint32_t *one, const uint32_t *other, uint32_t rounds, uint64_t seed);

int main(void) {
    uint32_t one[64], other[64];
    for (uint32_t i = 0; i < 64; i++) {
        one[i] = i * 77;
        other[i] = i * 1234567;
    }
    printf("stirred: %llx\n", (unsigned long long)stir(one, other, 20000, 1));
    return 0;
}
