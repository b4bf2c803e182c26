// Signal handlers that throw, through the frames of code that raised or met the signal.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

int read_from(const int *place); // not recorded

static unsigned table[64];

static void on_fault(int number) {
    for (unsigned i = 0; i < 64; i++)
        table[i] += i;
    throw std::out_of_range(number == SIGSEGV ? "fault" : "signal");
}

static unsigned mix(unsigned sum) {
    for (unsigned i = 0; i < 64; i++)
        sum += table[(sum + i) % 64]++;
    return sum;
}

int main() {
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    unsigned sum = 0, caught = 0;
    static const int seven = 7;
    for (int i = 0; i < 500; i++) {
        try {
            sum = mix(sum);
            sum += static_cast<unsigned>(read_from(i % 3 ? nullptr : &seven));
        } catch (const std::out_of_range &error) {
            caught += mix(static_cast<unsigned>(error.what()[0])) % 7;
        }
    }
    std::printf("sum %u, caught %u\n", sum, caught);
    return 0;
}
