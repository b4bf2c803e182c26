// Counts of values: one table of counters for all, and one of bytes for each channel of an image.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 1 << 16, CHANNELS = 4, LEVELS = 256 };

static void count_values(const uint32_t *values, size_t count, uint32_t *bins) {
#pragma omp parallel
    {
        uint32_t *own = calloc(BINS, sizeof *own);
#pragma omp for schedule(static)
        for (size_t i = 0; i < count; i++)
            own[values[i] % BINS]++;
#pragma omp critical
        for (size_t bin = 0; bin < BINS; bin++)
            bins[bin] += own[bin];
        free(own);
    }
}

static void count_channels(const uint32_t *pixels, size_t count, uint32_t levels[CHANNELS][LEVELS]) {
    for (size_t i = 0; i < count; i++)
        for (int channel = 0; channel < CHANNELS; channel++)
            levels[channel][pixels[i] >> 8 * channel & 255]++;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    size_t count = (size_t)atoll(argv[1]);
    uint32_t *values = malloc(count * sizeof *values), *bins = calloc(BINS, sizeof *bins), state = 1;
    uint32_t levels[CHANNELS][LEVELS];
    memset(levels, 0, sizeof levels);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        // The product of two halves has a distribution with a peak.
        values[i] = (state >> 16) * (state & 0xffff);
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        count_values(values, count, bins);
        count_channels(values, count, levels);
    }
    uint64_t sum = 0;
    for (size_t bin = 0; bin < BINS; bin++)
        sum = sum * 31 + bins[bin];
    for (int channel = 0; channel < CHANNELS; channel++)
        for (int level = 0; level < LEVELS; level++)
            sum = sum * 31 + levels[channel][level];
    printf("histogram %016llx\n", (unsigned long long)sum);
    return 0;
}
