// flags: -std=c++20
// places: start
// tries: coroutines, inline functions with label tables and static locals
#include <coroutine>
#include <cstdio>
#include <utility>
struct Gen {
    struct promise_type {
        int v;
        Gen get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int x) {
            v = x;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { throw; }
    };
    std::coroutine_handle<promise_type> h;
    ~Gen() { h.destroy(); }
    bool next() {
        h.resume();
        return !h.done();
    }
};
Gen count(int *p, int n) {
    for (int i = 0; i < n; i++) {
        p[i] += i;
        if (p[i] % 5 == 4)
            p[0]++;
        co_yield p[i];
        for (int j = 0; j < i; j++)
            p[j] ^= i;
    }
    if (n == 9)
        throw n;
}
inline int run(const char *c) {
    static void *t[] = {&&inc, &&dbl, &&end};
    static int calls;
    int a = ++calls;
    goto *t[*c++ - '0'];
inc:
    a++;
    goto *t[*c++ - '0'];
dbl:
    a *= 2;
    goto *t[*c++ - '0'];
end:
    return a;
}
int main() {
    int p[20];
    for (int i = 0; i < 20; i++)
        p[i] = i * 3;
    long s = 0;
    for (int n = 5; n < 12; n++)
        try {
            Gen g = count(p, n);
            while (g.next())
                s = s * 3 + g.h.promise().v;
        } catch (int e) {
            s += e;
        }
    std::printf("%ld %d %d\n", s, run("0011012"), run("12"));
}
