// Computes, and then ends in the way that its argument names.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <unistd.h>

static volatile unsigned long numbers[20000];

static void compute() {
    for (unsigned long i = 0; i < 20000; i++)
        numbers[i] += i;
}

static unsigned long overflow(unsigned long depth) {
    volatile unsigned long own[32];
    own[depth % 32] = depth;
    return overflow(depth + 1) + own[depth % 32];
}

static void on_fault(int) {
    compute();
    _exit(21);
}

static void on_abort(int) { compute(); } // and abort goes on

static void handle_fault() {
    static char stack[65536];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
}

// What is recorded of its first block stands as long as neither branch is reached.
__attribute__((noinline)) static void fault_before_branch(int *own, int *null, bool first) {
    own[0] = 1;
    *null = 2;
    if (first)
        own[1] = 3;
    else
        reinterpret_cast<char *>(own)[4] = 4;
}

int main(int argc, char **arguments) {
    const char *how = arguments[1];
    volatile unsigned long zero = 0;
    compute();
    if (std::strstr(how, "handled"))
        handle_fault();
    if (std::strcmp(how, "branch") == 0) {
        int own[3];
        fault_before_branch(own, reinterpret_cast<int *>(zero), argc > 2);
        std::printf("%d\n", own[1]);
    }
    if (std::strstr(how, "null"))
        *reinterpret_cast<volatile int *>(zero) = 1;
    if (std::strstr(how, "overflow"))
        return static_cast<int>(overflow(0));
    if (std::strcmp(how, "division") == 0)
        return static_cast<int>(numbers[7] / zero);
    if (std::strcmp(how, "uncaught") == 0)
        throw std::runtime_error("nobody catches this");
    if (std::strcmp(how, "handled abort") == 0)
        signal(SIGABRT, on_abort);
    if (std::strstr(how, "abort"))
        std::abort();
    if (std::strcmp(how, "quick_exit") == 0)
        std::quick_exit(22);
    if (std::strcmp(how, "thread") == 0) { // ends the process while the main thread waits
        std::thread([] {
            compute();
            std::exit(23);
        }).join();
    }
    if (std::strcmp(how, "trap") == 0)
        __builtin_trap();
    return 0;
}
