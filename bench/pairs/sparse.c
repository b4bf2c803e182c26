// A sparse matrix times a vector: unknowns in random order, then in one that keeps neighbours together.
#include "pair.h"
enum { ROWS = 1000000, IN_ROW = 7, ROUNDS = 2 };
static uint32_t begin[ROWS + 1], column[ROWS * IN_ROW];
static double value[ROWS * IN_ROW], x[ROWS], y[ROWS];
int main(void) {
    uint32_t *number = shuffled(ROWS);
#ifdef AFTER
    in_order(number, ROWS);
#endif
    for (uint32_t row = 0; row < ROWS; row++) {
        begin[row + 1] = begin[row] + IN_ROW;
        x[row] = 1;
    }
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t k = 0; k < IN_ROW; k++) {
            column[number[row] * IN_ROW + k] = number[(row + k * k) % ROWS];
            value[number[row] * IN_ROW + k] = k + 1;
        }
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t row = 0; row < ROWS; row++) {
            double sum = 0;
            for (uint32_t i = begin[row]; i < begin[row + 1]; i++)
                sum += value[i] * x[column[i]];
            y[row] = sum;
        }
        for (uint32_t row = 0; row < ROWS; row++)
            x[row] = y[row] * 0.03125;
    }
    double sum = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        sum += x[row];
    print_sum(sum);
}
