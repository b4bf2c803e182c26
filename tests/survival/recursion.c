// Two functions that call each other, with the smallest frames: 32 bytes for each call without instrumentation.
#include <stdio.h>
#include <stdlib.h>

static int is_odd(int n);

static int is_even(int n) {
    if (n == 0)
        return 1;
    return is_odd(n - 1);
}

static int is_odd(int n) {
    if (n == 0)
        return 0;
    return is_even(n - 1);
}

int main(int count, char **words) {
    int depth = count > 1 ? atoi(words[1]) : 100;
    printf("%d\n", is_even(depth));
    return 3;
}
