// LU factorisation with partial pivots of a dense matrix, by rows through pointers, and a solution of its equations.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static double **make_matrix(int size) {
    double **rows = malloc((size_t)size * sizeof *rows);
    uint32_t state = 1;
    for (int i = 0; i < size; i++) {
        rows[i] = malloc((size_t)size * sizeof **rows);
        for (int j = 0; j < size; j++)
            rows[i][j] = ((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0 - 0.5;
    }
    return rows;
}

static int pivot_of(double **rows, int size, int column) {
    int best = column;
    for (int i = column + 1; i < size; i++)
        if (fabs(rows[i][column]) > fabs(rows[best][column]))
            best = i;
    return best;
}

static void factorise(double **rows, int size, int *order) {
    for (int k = 0; k < size; k++) {
        int pivot = pivot_of(rows, size, k);
        double *swap = rows[k];
        rows[k] = rows[pivot];
        rows[pivot] = swap;
        order[k] = pivot;
#pragma omp parallel for schedule(static)
        for (int i = k + 1; i < size; i++) {
            double factor = rows[i][k] /= rows[k][k];
            for (int j = k + 1; j < size; j++)
                rows[i][j] -= factor * rows[k][j];
        }
    }
}

static void solve(double **rows, int size, const int *order, double *x) {
    for (int i = 0; i < size; i++) {
        double swap = x[i];
        x[i] = x[order[i]];
        x[order[i]] = swap;
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < i; j++)
            x[i] -= rows[i][j] * x[j];
    for (int i = size - 1; i >= 0; i--) {
        for (int j = i + 1; j < size; j++)
            x[i] -= rows[i][j] * x[j];
        x[i] /= rows[i][i];
    }
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    int size = atoi(argv[1]);
    double **rows = make_matrix(size), *x = malloc((size_t)size * sizeof *x);
    int *order = malloc((size_t)size * sizeof *order);
    for (int i = 0; i < size; i++)
        x[i] = i % 7;
    factorise(rows, size, order);
    solve(rows, size, order, x);
    printf("lu %.6g %.6g\n", x[0], x[size - 1]);
    return 0;
}
