// Calls itself as often as its second argument says, and then follows a wild pointer: from main, from a thread, or with
// a handler of SIGSEGV that ends the program. Optimised, no call accesses its frame.
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

static void *on_thread(void *depth) { return (void *)descend((long)depth); }

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
    if (strcmp(where, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, on_thread, (void *)depth);
        pthread_join(thread, NULL);
    }
    printf("%ld\n", descend(depth));
    return 0;
}
