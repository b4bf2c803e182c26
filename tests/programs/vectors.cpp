// Allocations in a constructor and in the standard library: five vectors in one function, two in another, and growth.
// With INTERNAL no other file can have the constructor.
#include <cstddef>
#include <cstdio>
#include <vector>

#ifdef INTERNAL
namespace {
#endif

class Vec {
  public:
    __attribute__((noinline)) explicit Vec(std::size_t count) : values(new double[count]), size(count) {
        for (std::size_t index = 0; index < count; index++)
            values[index] = 1;
    }
    Vec(const Vec &) = delete;
    ~Vec() { delete[] values; }
    double sum() const {
        double total = 0;
        for (std::size_t index = 0; index < size; index++)
            total += values[index];
        return total;
    }

  private:
    double *values;
    std::size_t size;
};

#ifdef INTERNAL
} // namespace
#endif

__attribute__((noinline)) static double five(std::size_t n) {
    Vec a(n);
    Vec b(2 * n);
    Vec c(3 * n);
    Vec d(4 * n);
    Vec e(5 * n);
    return a.sum() + b.sum() + c.sum() + d.sum() + e.sum();
}

__attribute__((noinline)) static double two(std::size_t n) {
    Vec x(n);
    Vec y(6 * n);
    return x.sum() + y.sum();
}

__attribute__((noinline)) static std::size_t grow(long count) {
    std::vector<long> list;
    for (long number = 0; number < count; number++)
        list.push_back(number);
    return list.size();
}

int main() {
    double sum = 0;
    for (int round = 0; round < 10; round++)
        sum += five(100) + two(100);
    std::printf("%.0f %zu\n", sum, grow(1000));
    return 0;
}
