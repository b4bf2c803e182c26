// Threads that the C++ library creates while a region is open, linked with --inherit=threads. Prints, by its own
// arithmetic, each region with its entries and the writes of `touched`.
#include "regions.h"

#include <cstdio>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

volatile long touched;

static void report(const char *name, long entries, long writes) { std::printf("%s: %ld %ld\n", name, entries, writes); }

struct AtEnd {
    ~AtEnd() { touch(1000); }
};
thread_local AtEnd at_end;

static int share(int times) {
    touch(times);
    return times;
}

static void threads() {
    {
        TRACKWAY_REGION("std::thread");
        std::vector<std::thread> team;
        for (int i = 1; i <= 4; i++)
            team.emplace_back([i] {
                (void)&at_end; // its destructor runs outside
                std::thread([i] { touch(10 * i); }).join();
                touch(i);
            });
        for (std::thread &thread : team)
            thread.join();
    }
    report("std::thread", 1, 10 + 10 * 10);
}

static void futures() {
    int sum = 0;
    {
        TRACKWAY_REGION("std::async");
        auto one = std::async(std::launch::async, share, 70), other = std::async(std::launch::async, share, 80);
        auto fails = std::async(std::launch::async, [] {
            TRACKWAY_REGION("throws");
            touch(1);
            throw std::runtime_error("thrown in a thread");
        });
        sum = one.get() + other.get();
        try {
            fails.get();
        } catch (const std::runtime_error &error) {
            touch(1);
            std::puts(error.what());
        }
    }
    std::printf("sum %d\n", sum);
    report("std::async", 1, 150 + 1);
    report("throws", 1, 1);
}

static void joining() {
    {
        TRACKWAY_REGION("std::jthread");
        std::jthread waits([](std::stop_token stop) {
            while (!stop.stop_requested())
                std::this_thread::yield();
            touch(5);
        });
    }
    report("std::jthread", 1, 5);
}

int main() {
    std::thread(share, 1000).join(); // for nothing
    threads();
    futures();
    joining();
    return 6;
}
