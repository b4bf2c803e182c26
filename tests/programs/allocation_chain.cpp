// Allocates below a known chain of functions, whose frames are of all kinds that compilers make without frame pointers.
#include <alloca.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#define ALONE extern "C" __attribute__((noinline))

static void *volatile kept;
static volatile int number = 3;

ALONE void in_leaf(int size) {
    kept = malloc(size);
    number = number + 1;
    free(kept);
}

ALONE int with_pushes(int a, int b, int c) {
    int x = number * a, y = number * b, z = number * c;
    in_leaf(4000);
    return x + y + z + number;
}

ALONE int with_alloca(int size) {
    char *block = static_cast<char *>(alloca(size * number));
    memset(block, 1, size);
    kept = block;
    return with_pushes(size, 2, 3) + block[0];
}

ALONE int with_large_frame(int size) {
    char block[70000];
    memset(block, size, sizeof block);
    kept = block;
    return with_alloca(size + 20) + block[number];
}

ALONE int with_aligned_frame(int size) {
    alignas(64) char block[128];
    memset(block, size, sizeof block);
    kept = block;
    return with_large_frame(size) + block[number];
}

// The jump to it leaves no frame.
ALONE int by_tail_call(int size) { return with_aligned_frame(size + 1); }

ALONE int outermost_of_ours(int size) { return by_tail_call(size) + number; }

static int compare(const void *first, const void *second) {
    static const std::function<int(int)> descend = outermost_of_ours;
    number = 3 + (descend(5) == 0);
    return *static_cast<const int *>(first) - *static_cast<const int *>(second);
}

ALONE int through_sort() {
    int numbers[2] = {2, number};
    qsort(numbers, 2, sizeof numbers[0], compare);
    return numbers[0];
}

static void handle(int) { number = 3 + (outermost_of_ours(5) == 0); }

// Interrupted at an instruction, not at a call.
ALONE int through_handler() {
    number = 0;
    __asm__ volatile("ud2");
    return number + 1;
}

static void skip_and_handle(int signal, siginfo_t *, void *context) {
    static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP] += 2;
    handle(signal);
}

ALONE int in_child() { return outermost_of_ours(5) + number; }

int main(int, char **arguments) {
    struct sigaction action = {};
    action.sa_sigaction = skip_and_handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, nullptr);
    switch (arguments[1][0]) {
    case 's':
        return through_sort() == 0;
    case 'h':
        return through_handler() == 0;
    case 't':
        std::thread(outermost_of_ours, 5).join();
        return 0;
    case 'f':
        if (fork() == 0)
            _exit(in_child() == 0);
        wait(nullptr);
        return 0;
    default:
        return outermost_of_ours(5) == 0;
    }
}
