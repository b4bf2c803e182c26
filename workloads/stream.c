// The STREAM kernels on three arrays of doubles: copy, scale, add, triad. A second argument sets how often.
// Compiled with -DCLOCKED it tells when each kernel begins, to a function that is linked to time them.
#include "region.h"
#include "size.h"

enum { FULL_ELEMENTS = 2000000, SMALL_ELEMENTS = 400, ROUNDS = 100 };

static double *a, *b, *c;

enum kernel { COPY, SCALE, ADD, TRIAD, END_OF_ROUND };

#ifdef CLOCKED
void stream_kernel_begins(enum kernel kernel);
#else
static inline void stream_kernel_begins(enum kernel kernel) { (void)kernel; }
#endif

static void copy(size_t n) {
    TRACKWAY_REGION_BEGIN("copy");
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
    TRACKWAY_REGION_END("copy");
}

static void scale(size_t n, double factor) {
    TRACKWAY_REGION_BEGIN("scale");
    for (size_t i = 0; i < n; i++)
        b[i] = factor * c[i];
    TRACKWAY_REGION_END("scale");
}

static void add(size_t n) {
    TRACKWAY_REGION_BEGIN("add");
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    TRACKWAY_REGION_END("add");
}

static void triad(size_t n, double factor) {
    TRACKWAY_REGION_BEGIN("triad");
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + factor * c[i];
    TRACKWAY_REGION_END("triad");
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_ELEMENTS, SMALL_ELEMENTS);
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
    a = allocate(n, sizeof *a);
    b = allocate(n, sizeof *b);
    c = allocate(n, sizeof *c);
    for (size_t i = 0; i < n; i++)
        a[i] = 1.0 + (double)(i % 8);
    // Every loop below adds in one order: the checksum is the same at every optimisation level.
    for (int round = 0; round < rounds; round++) {
        stream_kernel_begins(COPY);
        copy(n);
        stream_kernel_begins(SCALE);
        scale(n, 0.25);
        stream_kernel_begins(ADD);
        add(n);
        stream_kernel_begins(TRIAD);
        triad(n, 0.25);
        stream_kernel_begins(END_OF_ROUND);
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i];
    printf("stream elements %zu sum %.10e\n", n, sum);
    free(a);
    free(b);
    free(c);
    return 0;
}
