// flags:
// with: own_copies_other.cpp
// tries: large structs by value between translation units, in templates and in comparisons of containers
#include <algorithm>
#include <cstdio>
#include <queue>
#include <utility>
#include <vector>
struct Seven {
    unsigned v[7];
};
int take(Seven s, int k);
struct Three {
    long a, b, c;
};
template <class T> __attribute__((noinline)) long walk(long x, Three v, T *p, long n) {
    while (n-- > 0 && v.a < v.c) {
        v.a += p[n];
        v.b ^= v.a;
    }
    return x + v.a + v.b + v.c;
}
template <class T> __attribute__((noinline)) long choose(long x, Three v, T *p, long n) {
    if (n > 3)
        return walk<T>(x, v, p, n);
    p[0] = v.b;
    return walk<T>(x, Three{v.b, v.a, n}, p, n);
}
using Element = std::pair<std::pair<long, int>, long>;
struct Less {
    bool operator()(Element a, Element b) const { return a.first != b.first ? a.first < b.first : a.second < b.second; }
};
int main() {
    Seven s;
    for (unsigned i = 0; i < 7; i++)
        s.v[i] = i * 13;
    long sum = take(s, 3);
    long p[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 100; i++)
        sum += choose<long>(i, Three{i, 2, 1000}, p, i % 8);
    std::priority_queue<Element, std::vector<Element>, Less> queue{Less()};
    for (int i = 0; i < 300; i++)
        queue.push(Element(std::pair<long, int>(i * 7919L % 503, i), i % 3));
    for (; !queue.empty(); queue.pop())
        sum = sum * 31 + queue.top().second;
    std::vector<Element> elements;
    for (int i = 0; i < 3000; i++)
        elements.push_back(Element(std::pair<long, int>(i * 104729L % 1009, i), i));
    std::sort(elements.begin(), elements.end(), Less());
    for (const Element &e : elements)
        sum = sum * 31 + e.second;
    std::printf("%ld\n", sum);
}
