// What constructs and copies for OpenMP's tasks is in the region, too. Prints how often it was.
#include "regions.h"

#include <atomic>
#include <cstdio>

volatile long touched;

namespace {

std::atomic<long> writes;

struct Counted {
    Counted() = default;
    Counted(const Counted &) {
        touched = 1;
        writes++;
    }
};

template <typename T> void work(T value, int times) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(value) num_tasks(64)
    for (int i = 0; i < times; i++) {
        touched = i + (int)sizeof value;
        writes++;
    }
}

} // namespace

int main() {
    TRACKWAY_REGION_BEGIN("taskloop");
    work(Counted(), 200);
    TRACKWAY_REGION_END("taskloop");
    std::printf("taskloop: 1 %ld\n", writes.load());
}
