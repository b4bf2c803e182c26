// The linker takes the first of two definitions of Shared's constructor. With OTHER this is the file that has but that
// one.
#include <cstddef>
#include <cstdio>

struct Shared {
    __attribute__((noinline)) explicit Shared(std::size_t count) : values(new char[count]) { values[0] = 1; }
    ~Shared() { delete[] values; }
    char *values;
};

#ifdef OTHER
int other() { return Shared(1).values[0]; }
#else
int other();

struct Own {
    __attribute__((noinline)) explicit Own(std::size_t count) : values(new char[count]) { values[0] = 2; }
    ~Own() { delete[] values; }
    char *values;
};

int main() {
    int sum = 0;
    for (int round = 0; round < 10; round++) {
        Shared a(100);
        Own b(200);
        Shared c(300);
        Own d(400);
        Shared e(500);
        sum += a.values[0] + b.values[0] + c.values[0] + d.values[0] + e.values[0] + other();
    }
    std::printf("%d\n", sum);
    return 0;
}
#endif
