// What a Python program loads by ctypes.
#include <stdlib.h>

long sum_of_squares(int count) {
    long *squares = malloc(count * sizeof *squares);
    long sum = 0;
    for (int i = 0; i < count; i++)
        squares[i] = (long)i * i;
    for (int i = 0; i < count; i++)
        sum += squares[i];
    free(squares);
    return sum;
}
