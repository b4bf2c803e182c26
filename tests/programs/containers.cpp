// C++ as it is written: containers, templates, inheritance, exceptions, lambdas, smart pointers, thread-locals.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual long area() const = 0;
};

struct Rectangle : Shape {
    Rectangle(long width, long height) : width(width), height(height) {
        if (width < 0 || height < 0)
            throw std::invalid_argument("a rectangle has no negative side");
    }
    long area() const override { return width * height; }
    long width, height;
};

struct Square final : Rectangle {
    explicit Square(long side) : Rectangle(side, side) {}
};

template <typename Number> struct Statistics {
    void add(Number value) {
        values.push_back(value);
        total += value;
    }
    std::vector<Number> values;
    Number total = 0;
};

thread_local long shapes_made = 0;

std::unique_ptr<Shape> make_shape(long number) {
    shapes_made++;
    if (number % 3 == 0)
        return std::make_unique<Square>(number % 11 - 1);
    return std::make_unique<Rectangle>(number % 7, number % 5);
}

long sum_areas(long count, long &refused) {
    Statistics<long> areas;
    for (long number = 0; number < count; number++) {
        try {
            areas.add(make_shape(number)->area());
        } catch (const std::invalid_argument &) {
            refused++;
        }
    }
    std::sort(areas.values.begin(), areas.values.end(), [](long a, long b) { return a > b; });
    return areas.total + areas.values.front();
}

long count_words(int count) {
    std::map<std::string, int> ordered;
    std::unordered_map<std::string, int> unordered;
    for (int i = 0; i < count; i++) {
        std::string word = "word number " + std::to_string(i * i % 97);
        ordered[word]++;
        unordered[word] += 2;
    }
    long sum = 0;
    for (const auto &[word, uses] : ordered)
        sum = sum * 3 % 1000003 + uses + unordered[word] + static_cast<long>(word.size());
    return sum;
}

} // namespace

int main() {
    long refused = 0;
    long areas = sum_areas(3000, refused);
    std::printf("areas %ld refused %ld made %ld words %ld\n", areas, refused, shapes_made, count_words(3000));
    return 0;
}
