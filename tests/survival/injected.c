// A debugger stops the program in a loop that records and calls an instrumented function: by its name, or at its
// address, as the program does. The loop's position in the buffer is in a register then.
#include <stdio.h>

static int poked[4];
static int visits[1024];

int poke(int i) {
    poked[i & 3] += i;
    return poked[i & 3];
}

int (*volatile entry)(int) = poke;

__attribute__((noinline)) static void wander(unsigned steps) {
    unsigned at = 1;
    for (unsigned i = 0; i < steps; ++i) {
        at = at * 1664525u + 1013904223u;
        visits[at >> 22] += 1; // stop here
    }
}

int main(void) {
    wander(5000);
    long sum = 0;
    for (int i = 0; i < 1024; ++i)
        sum += visits[i];
    printf("%ld %d\n", sum, poke(0) + poke(3));
}
