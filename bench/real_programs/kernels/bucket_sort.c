// Integers ranked by buckets, as NPB's IS does: counts, first places, then each key into its place.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKET_BITS = 10, KEY_BITS = 20 };

static void into_buckets(const uint32_t *keys, size_t count, size_t *first, uint32_t *sorted) {
    for (size_t bucket = 0; bucket <= 1u << BUCKET_BITS; bucket++)
        first[bucket] = 0;
    for (size_t i = 0; i < count; i++)
        first[(keys[i] >> (KEY_BITS - BUCKET_BITS)) + 1]++;
    for (size_t bucket = 1; bucket <= 1u << BUCKET_BITS; bucket++)
        first[bucket] += first[bucket - 1];
    size_t *next = malloc(sizeof(size_t) << BUCKET_BITS);
    for (size_t bucket = 0; bucket < 1u << BUCKET_BITS; bucket++)
        next[bucket] = first[bucket];
    for (size_t i = 0; i < count; i++)
        sorted[next[keys[i] >> (KEY_BITS - BUCKET_BITS)]++] = keys[i];
    free(next);
}

static void sort_bucket(uint32_t *keys, size_t count) {
    uint32_t counts[1 << (KEY_BITS - BUCKET_BITS)] = {0};
    uint32_t high = count ? keys[0] >> (KEY_BITS - BUCKET_BITS) << (KEY_BITS - BUCKET_BITS) : 0;
    for (size_t i = 0; i < count; i++)
        counts[keys[i] & ((1u << (KEY_BITS - BUCKET_BITS)) - 1)]++;
    for (uint32_t low = 0; low < 1u << (KEY_BITS - BUCKET_BITS); low++)
        for (uint32_t left = counts[low]; left > 0; left--)
            *keys++ = high | low;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    size_t count = (size_t)atoll(argv[1]);
    uint32_t *keys = malloc(count * sizeof *keys), *sorted = malloc(count * sizeof *sorted), state = 1;
    size_t *first = malloc(sizeof(size_t) * ((1u << BUCKET_BITS) + 1));
    uint64_t sum = 0;
    for (int repetition = 0; repetition < atoi(argv[2]); repetition++) {
        for (size_t i = 0; i < count; i++)
            keys[i] = (state = state * 1664525u + 1013904223u) >> (32 - KEY_BITS);
        into_buckets(keys, count, first, sorted);
        for (size_t bucket = 0; bucket < 1u << BUCKET_BITS; bucket++)
            sort_bucket(sorted + first[bucket], first[bucket + 1] - first[bucket]);
        for (size_t i = 0; i < count; i += 1 + count / 1000)
            sum = sum * 31 + sorted[i];
    }
    for (size_t i = 1; i < count; i++)
        if (sorted[i - 1] > sorted[i])
            return 1;
    printf("bucket_sort %016llx\n", (unsigned long long)sum);
    return 0;
}
