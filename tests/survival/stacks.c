// Large stacks: deep recursion, frames of a megabyte, alloca in loops, arrays of variable length, and a thread that
// fills a small stack nearly to its end.
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static long descend(int depth, const long *above) {
    long own[4] = {depth, above[0], above[1] + 1, above[2]};
    if (depth == 0)
        return own[1] + own[2];
    long below = descend(depth - 1, own);
    return below + own[3] % 3;
}

static long large_frame(int seed) {
    volatile char bytes[1 << 20];
    long sum = 0;
    for (int i = 0; i < 1 << 20; i += 1009)
        bytes[i] = (char)(i * seed);
    for (int i = 0; i < 1 << 20; i += 1009)
        sum += bytes[i];
    return sum;
}

static long allocate_in_loop(int rounds) {
    char *previous = NULL;
    long sum = 0;
    for (int i = 1; i < rounds; i++) {
        char *block = alloca((size_t)(i % 97 + 8));
        memset(block, i, 8);
        if (previous)
            sum += previous[i % 8];
        previous = block;
    }
    return sum;
}

static long of_variable_length(int length) {
    int rows[length][length + 1];
    for (int i = 0; i < length; i++)
        for (int j = 0; j <= length; j++)
            rows[i][j] = i * j;
    return rows[length / 2][length / 3];
}

static void *on_small_stack(void *unused) {
    long top[4] = {1, 2, 3, 4};
    printf("small stack: %ld\n", descend(100, top));
    return unused;
}

int main(void) {
    long top[4] = {1, 2, 3, 4};
    printf("deep: %ld\n", descend(20000, top));
    printf("frames: %ld\n", large_frame(3) + large_frame(5));
    printf("alloca: %ld\n", allocate_in_loop(5000));
    printf("variable: %ld\n", of_variable_length(300));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    pthread_t thread;
    pthread_create(&thread, &attributes, on_small_stack, NULL);
    pthread_join(thread, NULL);
    return 0;
}
