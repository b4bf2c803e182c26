// A sparse matrix in compressed rows times a vector, as in an iterative solver: rows, entries in a row, repetitions.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rows;
    int *first;
    int *column;
    double *value;
} Matrix;

static uint32_t next_number(void) {
    static uint32_t state = 1;
    return (state = state * 1103515245u + 12345u) >> 8;
}

static Matrix make_matrix(int rows, int entries) {
    size_t count = (size_t)rows * (size_t)entries;
    Matrix matrix = {rows, malloc(((size_t)rows + 1) * sizeof(int)), malloc(count * sizeof(int)),
                     malloc(count * sizeof(double))};
    for (int row = 0, at = 0; row < rows; row++) {
        matrix.first[row] = at;
        for (int i = 0; i < entries; i++, at++) {
            // Half of the entries lie near the diagonal, the others anywhere.
            matrix.column[at] = i % 2 ? (int)(next_number() % (uint32_t)rows) : (row + i) % rows;
            matrix.value[at] = 1.0 / (1 + next_number() % 1000);
        }
    }
    matrix.first[rows] = rows * entries;
    return matrix;
}

static void multiply(const Matrix *matrix, const double *x, double *y) {
#pragma omp parallel for schedule(static)
    for (int row = 0; row < matrix->rows; row++) {
        double sum = 0;
        for (int at = matrix->first[row]; at < matrix->first[row + 1]; at++)
            sum += matrix->value[at] * x[matrix->column[at]];
        y[row] = sum;
    }
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    int rows = atoi(argv[1]), entries = atoi(argv[2]), repetitions = atoi(argv[3]);
    Matrix matrix = make_matrix(rows, entries);
    double *x = malloc((size_t)rows * sizeof(double)), *y = malloc((size_t)rows * sizeof(double));
    for (int i = 0; i < rows; i++)
        x[i] = i % 10;
    for (int i = 0; i < repetitions; i++) {
        multiply(&matrix, x, y);
        double *swap = x;
        x = y;
        y = swap;
    }
    printf("csr %.12g %.12g\n", x[0], x[rows - 1]);
    return 0;
}
