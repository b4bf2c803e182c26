// A matrix walked down its columns: along its rows.
#include "pair.h"
enum { ROWS = 8192, COLUMNS = 4104, ROUNDS = 1 };
static float image[ROWS][COLUMNS];
int main(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            image[i][j] = (i + j) % 256;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
#ifdef AFTER
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
#else
        for (int j = 0; j < COLUMNS; j++)
            for (int i = 0; i < ROWS; i++)
#endif
                sum += image[i][j];
        image[0][round] += 1;
    }
    print_sum(sum);
}
