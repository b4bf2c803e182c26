// Calls itself as often as its second argument says, and then follows a wild pointer: from main, from a thread, from
// one with a stack of 2 MiB, at once or after it has run for a while, or with a handler of SIGSEGV that ends the
// program. Optimised, no call accesses its frame.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int *volatile wild = (int *)16;

__attribute__((noinline)) static long descend(long depth) {
    if (depth == 0)
        return *wild;
    return descend(depth - 1) * 3 + 1;
}

static unsigned pause_us;

static void *on_thread(void *depth) {
    long few = 3;
    for (volatile long i = 0; i < few; i++)
        usleep(pause_us / 3);
    return (void *)descend((long)depth);
}

static void run_on_thread(size_t stack_bytes, long depth) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t thread;
    pthread_create(&thread, &attributes, on_thread, (void *)depth);
    pthread_join(thread, NULL);
}

static void leave(int number) {
    (void)number;
    _exit(3);
}

static void handle_fault(void) {
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
}

int main(int count, char **words) {
    const char *where = count > 1 ? words[1] : "main";
    long depth = count > 2 ? atol(words[2]) : 3;
    if (strcmp(where, "handled") == 0)
        handle_fault();
    if (strcmp(where, "thread") == 0)
        run_on_thread(0, depth);
    if (strcmp(where, "later") == 0)
        pause_us = 300000;
    if (strcmp(where, "small") == 0 || strcmp(where, "later") == 0)
        run_on_thread(2 << 20, depth);
    printf("%ld\n", descend(depth));
    return 0;
}
