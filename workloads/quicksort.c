// Quicksort of 32-bit integers, with insertion sort for short pieces.
#include "random.h"
#include "region.h"
#include "size.h"

enum { FULL_ELEMENTS = 8000000, SMALL_ELEMENTS = 15000, SHORT = 16, PIECE = 4096 };

static void insertion_sort(uint32_t *values, size_t n) {
    for (size_t i = 1; i < n; i++) {
        uint32_t value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

static size_t partition(uint32_t *values, size_t n) {
    uint32_t pivot = values[n / 2];
    size_t low = 0, high = n - 1;
    for (;;) {
        while (values[low] < pivot)
            low++;
        while (values[high] > pivot)
            high--;
        if (low >= high)
            return high + 1;
        uint32_t swapped = values[low];
        values[low++] = values[high];
        values[high--] = swapped;
    }
}

static void quicksort(uint32_t *values, size_t n) {
    if (n <= SHORT) {
        insertion_sort(values, n);
        return;
    }
    size_t middle = partition(values, n);
    quicksort(values, middle);
    quicksort(values + middle, n - middle);
}

// Each piece in a region.
static void sort(uint32_t *values, size_t n) {
    if (n <= PIECE) {
        TRACKWAY_REGION_BEGIN("sort");
        quicksort(values, n);
        TRACKWAY_REGION_END("sort");
        return;
    }
    size_t middle = partition(values, n);
    sort(values, middle);
    sort(values + middle, n - middle);
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_ELEMENTS, SMALL_ELEMENTS);
    uint32_t *values = allocate(n, sizeof *values);
    uint64_t random = 11, sum = 0;
    for (size_t i = 0; i < n; i++)
        values[i] = (uint32_t)next_random(&random);
    sort(values, n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && values[i - 1] > values[i]) {
            fprintf(stderr, "quicksort: out of order at %zu\n", i);
            return 1;
        }
        sum = sum * 33 + values[i];
    }
    printf("quicksort elements %zu sum %016llx\n", n, (unsigned long long)sum);
    free(values);
    return 0;
}
