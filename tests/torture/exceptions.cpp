// flags:
// tries: exceptions through frames with destructors, rethrow, in constructors, in loops; guards; dynamic_cast
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Noise {
    static int depth;
    int id;
    int *log;
    Noise(int i, int *l) : id(i), log(l) {
        if (i == 13)
            throw std::runtime_error("ctor");
        log[i & 15]++;
    }
    ~Noise() { log[id & 15] += 100; }
};
struct Pair {
    Noise a, b;
    Pair(int x, int y, int *l) : a(x, l), b(y, l) {}
};
__attribute__((noinline)) long deep(int n, int *log) {
    Noise x(n, log);
    if (n == 0)
        throw n + 7;
    long r = deep(n - 1, log);
    log[3] += r;
    return r + 1;
}
__attribute__((noinline)) int again(int n, int *log) {
    try {
        return (int)deep(n, log);
    } catch (int e) {
        log[1] += e;
        if (n & 1)
            throw;
        return e;
    } catch (...) {
        log[2]++;
        throw;
    }
}
struct Base {
    virtual ~Base() {}
    virtual int f(int x) = 0;
};
struct Left : virtual Base {
    int l = 3;
    int f(int x) override { return x + l; }
};
struct Right : virtual Base {
    int r = 5;
    int f(int x) override { return x * r; }
};
struct Both : Left, Right {
    int b = 7;
    int f(int x) override {
        l += x;
        return Left::f(x) + Right::f(x) + b;
    }
};
__attribute__((noinline)) int &counter() {
    static std::vector<int> v(3, 4);
    static int guard = [] {
        static int once = 0;
        if (!once++)
            throw 1;
        return 9;
    }();
    v[0] += guard;
    return v[0];
}
int main() {
    int log[16] = {};
    for (int i = 0; i < 20; i++)
        try {
            log[5] += again(i % 7, log);
        } catch (int e) {
            log[6] += e;
        }
    for (int i = 0; i < 20; i++)
        try {
            Pair p(i, 25 - i, log);
            log[7]++;
        } catch (std::exception &e) {
            log[8] += (int)std::string(e.what()).size();
        }
    for (int i = 0; i < 3; i++)
        try {
            log[9] += counter();
        } catch (int) {
            log[10]++;
        }
    std::unique_ptr<Base> o(new Both);
    Base *b = o.get();
    for (int i = 0; i < 5; i++)
        log[11] += b->f(i);
    log[12] += dynamic_cast<Right *>(b)->r;
    try {
        std::vector<int> v(3);
        v.at(5) = 1;
    } catch (std::out_of_range &) {
        log[14]++;
    }
    for (int x : log)
        std::printf("%d ", x);
    std::puts("");
}
