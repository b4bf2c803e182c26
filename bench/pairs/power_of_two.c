// Rows whose length is a power of two meet in few sets of the cache: one line longer.
#include "pair.h"
#ifdef AFTER
enum { LENGTH = 1024 + 8 };
#else
enum { LENGTH = 1024 };
#endif
enum { ROWS = 512, USED = 64, ROUNDS = 400 };
static double rows[ROWS][LENGTH];
int main(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < USED; j++)
            rows[i][j] = i ^ j;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int j = 0; j < USED; j++)
            for (int i = 0; i < ROWS; i++)
                sum += rows[i][j] * round;
    print_sum(sum);
}
