// A graph whose vertices have random numbers: numbers by where they lie.
#include "pair.h"
enum { SIDE = 1500, COUNT = SIDE * SIDE, ROUNDS = 2 };
static uint32_t neighbour[COUNT][4];
static uint64_t rank_now[COUNT], rank_next[COUNT];
int main(void) {
    uint32_t *number = shuffled(COUNT);
#ifdef AFTER
    in_order(number, COUNT);
#endif
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            uint32_t *of = neighbour[number[i * SIDE + j]];
            of[0] = number[(i + 1) % SIDE * SIDE + j];
            of[1] = number[(i + SIDE - 1) % SIDE * SIDE + j];
            of[2] = number[i * SIDE + (j + 1) % SIDE];
            of[3] = number[i * SIDE + (j + SIDE - 1) % SIDE];
            rank_now[number[i * SIDE + j]] = i ^ j;
        }
    for (int round = 0; round < ROUNDS; round++) {
        for (int v = 0; v < COUNT; v++) {
            uint64_t sum = 0;
            for (int k = 0; k < 4; k++)
                sum += rank_now[neighbour[v][k]];
            rank_next[v] = sum / 4;
        }
        memcpy(rank_now, rank_next, sizeof rank_now);
    }
    uint64_t sum = 0;
    for (int v = 0; v < COUNT; v++)
        sum += rank_now[v];
    print_sum(sum);
}
