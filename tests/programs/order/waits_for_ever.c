// The program ends while a thread of it waits.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int waits, never;

static void *wait_for_ever(void *unused) {
    atomic_store(&waits, 1);
    while (atomic_load(&never) == 0) {
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    while (atomic_load(&waits) == 0) {
    }
    exit(0);
}
