// A sparse matrix with 64-bit column numbers: 32 bits.
#include "pair.h"
enum { ROWS = 1000000, PER_ROW = 16, ROUNDS = 2 };
#ifdef AFTER
typedef uint32_t column_number;
#else
typedef uint64_t column_number;
#endif
static column_number column[ROWS * PER_ROW];
static float factor[ROWS * PER_ROW], x[ROWS], y[ROWS];
int main(void) {
    for (int i = 0; i < ROWS * PER_ROW; i++) {
        int64_t near = i / PER_ROW + (int64_t)(next_random() % 64) - 32;
        column[i] = near < 0 ? 0 : near >= ROWS ? ROWS - 1 : near;
        factor[i] = i % 3;
    }
    for (int i = 0; i < ROWS; i++)
        x[i] = i % 10;
    for (int round = 0; round < ROUNDS; round++) {
        for (int row = 0; row < ROWS; row++) {
            float sum = 0;
            for (int k = row * PER_ROW; k < (row + 1) * PER_ROW; k++)
                sum += factor[k] * x[column[k]];
            y[row] = sum;
        }
        x[round] = y[round] > 5;
    }
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += y[i];
    print_sum(sum);
}
