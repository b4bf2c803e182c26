// The product of two square matrices of doubles, in the cache-friendly order of loops (i, k, j).
#include "region.h"
#include "size.h"

enum { FULL_SIDE = 1500, SMALL_SIDE = 60 };

static void multiply(double *restrict product, const double *restrict left, const double *restrict right, size_t n) {
    for (size_t i = 0; i < n; i++) {
        TRACKWAY_REGION_BEGIN("multiply");
        for (size_t k = 0; k < n; k++) {
            double factor = left[i * n + k];
            for (size_t j = 0; j < n; j++)
                product[i * n + j] += factor * right[k * n + j];
        }
        TRACKWAY_REGION_END("multiply");
    }
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_SIDE, SMALL_SIDE);
    double *left = allocate(n * n, sizeof *left);
    double *right = allocate(n * n, sizeof *right);
    double *product = allocate(n * n, sizeof *product);
    // Small integers: every sum is exact, in any order.
    for (size_t i = 0; i < n * n; i++) {
        left[i] = (double)(i % 7);
        right[i] = (double)(i % 5);
    }
    multiply(product, left, right, n);
    double sum = 0;
    for (size_t i = 0; i < n * n; i++)
        sum += product[i] * (double)(i % 3);
    printf("matrix side %zu sum %.0f\n", n, sum);
    free(left);
    free(right);
    free(product);
    return 0;
}
