// Times the kernels of workloads/stream.c (built with -DCLOCKED). At the end the file that STREAM_CLOCK_FILE names
// holds, in nanoseconds, the sums over all rounds but the first, which touches the arrays' pages; then those rounds'
// number. Built plain, so that nothing here is traced.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KERNELS = 4 };

void stream_kernel_begins(int kernel);

static int64_t sum_ns[KERNELS];
static int64_t last_ns;
static int64_t rounds;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void stream_kernel_begins(int kernel) {
    int64_t now = now_ns();
    if (kernel > 0 && rounds > 0)
        sum_ns[kernel - 1] += now - last_ns;
    if (kernel == KERNELS)
        rounds++;
    last_ns = now;
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("STREAM_CLOCK_FILE");
    FILE *file = path ? fopen(path, "w") : stderr;
    if (!file) {
        perror(path);
        return;
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        fprintf(file, "%lld ", (long long)sum_ns[kernel]);
    fprintf(file, "%lld\n", (long long)(rounds - 1));
    if (path)
        fclose(file);
}
