// Exceptions and longjmp through frames that record and frames that don't, out of callbacks of the C library too.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

long pass_through(long (*next)(int), int depth); // not recorded
long catch_inside(long (*next)(int), int depth); // not recorded

static long steps[16];
static std::jmp_buf escape;

struct Guard {
    explicit Guard(int depth) : depth(depth) { steps[depth % 16] += depth; }
    ~Guard() { steps[depth % 16] -= depth - 1; }
    int depth;
};

static long alternate(int depth) {
    Guard guard(depth);
    long own[3] = {depth, steps[depth % 16], 1};
    if (depth == 0)
        throw std::runtime_error("bottom");
    if (depth % 5 == 0) {
        try {
            own[2] += pass_through(alternate, depth - 1);
        } catch (const std::logic_error &) {
            own[2] += 7;
        }
    } else if (depth % 7 == 0) {
        own[2] += catch_inside(alternate, depth - 1);
    } else {
        own[2] += depth % 2 ? pass_through(alternate, depth - 1) : alternate(depth - 1);
    }
    return own[0] + own[1] + own[2];
}

static long jump(int depth) {
    steps[depth % 16]++;
    if (depth == 0)
        std::longjmp(escape, 3);
    return depth % 2 ? pass_through(jump, depth - 1) : jump(depth - 1) + 1;
}

static int compare_or_leave(const void *a, const void *b) {
    int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);
    steps[x % 16]++;
    if (steps[x % 16] % 97 == 0)
        std::longjmp(escape, 5);
    return x < y ? -1 : x > y;
}

int main() {
    long sum = 0;
    for (int depth = 0; depth < 60; depth++) {
        try {
            sum += alternate(depth);
        } catch (const std::exception &exception) {
            sum += exception.what()[0];
        }
    }
    volatile int jumps = 0;
    for (volatile int depth = 0; depth < 30; depth = depth + 1) {
        int how = setjmp(escape);
        if (how == 0)
            jump(depth);
        jumps += how;
    }
    for (volatile int round = 0; round < 30; round = round + 1) {
        int numbers[40];
        for (int i = 0; i < 40; i++)
            numbers[i] = (i * 7919 + round) % 101;
        int how = setjmp(escape);
        if (how == 0)
            std::qsort(numbers, 40, sizeof numbers[0], compare_or_leave);
        jumps += how;
    }
    for (long step : steps)
        sum += step;
    printf("sum %ld, jumps %d\n", sum, static_cast<int>(jumps));
    return 0;
}
