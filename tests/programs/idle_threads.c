// Ends while its threads wait for ever.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 200 };

static void *wait_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(void) {
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
            return 1;
    }
    printf("%d threads wait\n", THREADS);
    return 0;
}
