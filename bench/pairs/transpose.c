// A matrix transposed row by row: in blocks.
#include "pair.h"
enum { SIZE = 3072, BLOCK = 16, ROUNDS = 2 };
static double from[SIZE][SIZE], to[SIZE][SIZE];
int main(void) {
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            from[i][j] = i ^ j;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
#ifdef AFTER
        for (int i = 0; i < SIZE; i += BLOCK)
            for (int j = 0; j < SIZE; j += BLOCK)
                for (int k = i; k < i + BLOCK; k++)
                    for (int l = j; l < j + BLOCK; l++)
                        to[l][k] = from[k][l];
#else
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++)
                to[j][i] = from[i][j];
#endif
        sum += to[round][SIZE - 1];
        from[0][round] += 1;
    }
    print_sum(sum);
}
