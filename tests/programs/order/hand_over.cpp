// As hand_over.c, by the means of C++.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr long Slots = 2000;
long slots[Slots];
std::mutex mutex;
std::condition_variable changed;
long filled;

// May throw as far as the compiler knows, so that calls have two ways out.
__attribute__((noinline)) void check(long value) {
    if (value < 0)
        throw value;
}

void fill(long first, long end) {
    for (long i = first; i < end; i++) {
        slots[i] = i + 1;
        std::lock_guard<std::mutex> guard(mutex);
        check(i);
        filled = i + 1;
        changed.notify_one();
    }
}

long drain(long first, long end) {
    long sum = 0;
    for (long i = first; i < end; i++) {
        std::unique_lock<std::mutex> guard(mutex);
        changed.wait(guard, [i] { return filled > i; });
        guard.unlock();
        sum += slots[i];
    }
    return sum;
}

} // namespace

int main() {
    long sum = 0;
    for (long begin = 0; begin < Slots; begin += 500) {
        std::thread writer(fill, begin, begin + 500);
        sum += drain(begin, begin + 500);
        writer.join();
    }
    std::printf("%ld\n", sum);
}
