// hnswlib: builds an index of random points, and looks for the nearest ones of others: the sum of their labels.
#include "hnswlib/hnswlib.h"
#include "random.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

static std::vector<float> random_point(uint64_t &state, size_t dimensions) {
    std::vector<float> point(dimensions);
    for (float &coordinate : point)
        coordinate = static_cast<float>(next_number(&state) % 1000);
    return point;
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    const size_t dimensions = 32, points = std::strtoul(words[1], nullptr, 10),
                 queries = std::strtoul(words[2], nullptr, 10);
    hnswlib::L2Space space(dimensions);
    hnswlib::HierarchicalNSW<float> index(&space, points, 16, 40);
    uint64_t state = 1, sum = 0;
    for (size_t i = 0; i < points; i++)
        index.addPoint(random_point(state, dimensions).data(), i);
    index.setEf(40);
    for (size_t i = 0; i < queries; i++) {
        auto nearest = index.searchKnn(random_point(state, dimensions).data(), 10);
        for (; !nearest.empty(); nearest.pop())
            sum += nearest.top().second;
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
