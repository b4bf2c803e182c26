// Thread-local objects with constructors and destructors that compute, of threads and of the main thread, destructors
// of static objects, and functions that run at exit.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

static std::map<std::string, long> totals;

struct Counter {
    explicit Counter(const char *name) : name(name) {}
    ~Counter() {
        long sum = 0;
        for (long value : values)
            sum += value;
        printf("%s: %ld values, sum %ld\n", name.c_str(), static_cast<long>(values.size()), sum);
        totals[name] += sum;
    }
    void add(long value) { values.push_back(value); }

    std::string name;
    std::vector<long> values;
};

static Counter at_end("static");
static thread_local Counter of_thread("thread");

static void work(long step) {
    for (long i = 0; i < 100; i++)
        of_thread.add(step * i);
}

static void report() {
    for (auto &[name, total] : totals)
        at_end.add(total);
}

int main() {
    std::atexit(report);
    std::at_quick_exit([] {});
    for (long step = 0; step < 20; step++)
        std::thread(work, step).join();
    work(100);
    at_end.add(1);
    return 0;
}
