// flags: -pthread
// tries: the standard library: maps, sorting, functions, streams, strings, threads
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
template <int N> struct Fib {
    static int get(std::map<int, int> &m) { return m[N] = Fib<N - 1>::get(m) + Fib<N - 2>::get(m); }
};
template <> struct Fib<0> {
    static int get(std::map<int, int> &m) { return m[0] = 0; }
};
template <> struct Fib<1> {
    static int get(std::map<int, int> &m) { return m[1] = 1; }
};
int main() {
    std::map<int, int> m;
    Fib<9>::get(m);
    std::map<std::string, std::vector<int>> words;
    unsigned r = 7;
    for (int i = 0; i < 200; i++) {
        r = r * 1103515245 + 12345;
        words[std::string(1 + r % 5, char('a' + (r >> 8) % 26))].push_back(i);
    }
    std::vector<std::function<long(long)>> fs;
    for (int i = 0; i < 5; i++)
        fs.push_back([i, &m](long x) { return x * i + m[i]; });
    long h = 0;
    for (auto &[w, v] : words) {
        std::sort(v.begin(), v.end(), [](int a, int b) { return a % 10 != b % 10 ? a % 10 < b % 10 : a > b; });
        for (int x : v)
            h = h * 31 + x + (long)w.size();
    }
    for (auto &f : fs)
        h = f(h);
    std::unordered_map<int, std::string> um;
    for (int i = 0; i < 50; i++)
        um[i * 7] = std::to_string(i);
    for (int i = 0; i < 350; i++)
        if (um.count(i))
            h += (long)um[i].size() * i;
    std::deque<int> d;
    std::list<int> l;
    for (int i = 0; i < 100; i++) {
        d.push_front(i);
        l.push_back(i);
        if (i % 3 == 0) {
            d.pop_back();
            l.pop_front();
        }
    }
    h += std::accumulate(d.begin(), d.end(), 0) + l.front();
    std::vector<long> parts(4);
    std::vector<std::thread> ts;
    for (int t = 0; t < 4; t++)
        ts.emplace_back([t, &parts] {
            thread_local long local = 0;
            for (int i = 0; i < 100 * t; i++)
                local += i ^ t;
            parts[t] = local;
        });
    for (auto &t : ts)
        t.join();
    std::ostringstream o;
    o << h << ' ' << words.size();
    for (long p : parts)
        o << ' ' << p;
    std::istringstream in(o.str());
    std::string w;
    while (in >> w)
        std::cout << w << '\n';
}
