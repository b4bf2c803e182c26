// A shared object that calls back its program and throws exceptions through it.
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <vector>

extern "C" long add_up(long from) __attribute__((weak));

struct Loaded {
    Loaded() : squares(100) {
        for (long i = 0; i < 100; i++)
            squares[static_cast<std::size_t>(i)] = i * i;
    }
    ~Loaded() { printf("unloaded: %ld\n", squares[9]); }
    std::vector<long> squares;
};

static Loaded loaded;
static thread_local long calls[4];

static long checked(int index) {
    calls[index % 4]++;
    if (index % 3 == 0)
        throw std::out_of_range("a multiple of three");
    return loaded.squares[static_cast<std::size_t>(index)];
}

extern "C" long work(int round) {
    long sum = add_up ? add_up(round) : 0;
    for (int i = 0; i < 50; i++) {
        try {
            sum += checked(i);
        } catch (const std::out_of_range &) {
            sum -= calls[i % 4];
        }
    }
    return sum;
}

extern "C" void install(int number, void (*handler)(int)) { signal(number, handler); }
