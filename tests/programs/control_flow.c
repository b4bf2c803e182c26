// What makes control flow hard to follow: setjmp and longjmp, computed goto, tail calls, signal handlers, variable
// arguments, variable-length arrays, alloca, switch tables, copies and fills of all lengths.
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static long total;
static jmp_buf escape;
static volatile sig_atomic_t signals;

static void jump_out(int depth) {
    total += depth;
    if (depth == 0)
        longjmp(escape, 1);
    jump_out(depth - 1);
}

static void jumps(void) {
    for (volatile int i = 0; i < 50; i++)
        if (setjmp(escape) == 0)
            jump_out(i % 7);
}

static void computed_goto(const unsigned char *program) {
    static const void *const labels[] = {&&stop, &&add, &&twice, &&negate};
    goto *labels[*program++];
add:
    total += 7;
    goto *labels[*program++];
twice:
    total = total * 2 % 100003;
    goto *labels[*program++];
negate:
    total = -total;
    goto *labels[*program++];
stop:
    return;
}

static long odd(long n, long *steps);

static long even(long n, long *steps) {
    ++*steps;
    if (n == 0)
        return 1;
    __attribute__((musttail)) return odd(n - 1, steps);
}

static long odd(long n, long *steps) {
    ++*steps;
    if (n == 0)
        return 0;
    __attribute__((musttail)) return even(n - 1, steps);
}

static void on_signal(int number) {
    (void)number;
    signals++;
    total += signals;
}

static void interrupts(void) {
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 100; i++) {
        total ^= i;
        raise(SIGUSR1);
    }
}

static long sum_of(int count, ...) {
    va_list numbers;
    va_start(numbers, count);
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += va_arg(numbers, long);
    va_end(numbers);
    return sum;
}

struct record {
    char name[37];
    int values[5];
};

static void copies(size_t length) {
    char from[length + 1];
    char *to = alloca(length + 1);
    struct record first = {"first", {1, 2, 3, 4, 5}}, second;
    memset(from, (int)length, length + 1);
    memcpy(to, from, length);
    memmove(to + 1, to, length / 2);
    second = first;
    second.values[length % 5]++;
    for (size_t i = 0; i < length; i++)
        total += to[i] + second.values[i % 5];
}

static int classify(int n) {
    switch (n % 9) {
    case 0:
        return 11;
    case 1:
        return 3 + (int)(total & 1);
    case 2:
    case 3:
        return 29;
    case 5:
        return 31;
    case 7:
        return 37;
    default:
        return 41;
    }
}

int main(void) {
    long steps = 0;
    jumps();
    computed_goto((const unsigned char[]){1, 2, 1, 3, 2, 1, 1, 0});
    total += even(1000, &steps) + steps;
    interrupts();
    total += sum_of(6, 1L, 2L, 3L, 4L, 5L, 6L) + sum_of(0);
    for (size_t length = 0; length < 70; length++)
        copies(length);
    for (int n = 0; n < 500; n++)
        total += classify(n);
    printf("total %ld signals %d\n", total, (int)signals);
    return 0;
}
