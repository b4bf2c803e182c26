// Matrices multiplied with the wrong loop innermost: loops interchanged.
#include "pair.h"
enum { SIZE = 320 };
static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
int main(void) {
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            a[i][j] = (i + j) % 7, b[i][j] = (i * j) % 5;
#ifdef AFTER
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++)
            for (int j = 0; j < SIZE; j++)
                c[i][j] += a[i][k] * b[k][j];
#else
    for (int j = 0; j < SIZE; j++)
        for (int k = 0; k < SIZE; k++)
            for (int i = 0; i < SIZE; i++)
                c[i][j] += a[i][k] * b[k][j];
#endif
    double sum = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            sum += c[i][j];
    print_sum(sum);
}
