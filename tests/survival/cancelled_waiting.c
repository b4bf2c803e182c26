// A thread that is cancelled asynchronously once a byte arrives, by when it waits for its recorder.
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 512 };

static unsigned table[SIZE], cleaned[8];

static void clean_up(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < SIZE; i++)
        cleaned[cleaned[i % 8] % 8] += i;
}

static void *compute(void *unused) {
    pthread_cleanup_push(clean_up, NULL);
    pthread_cleanup_push((void (*)(void *))puts, "leaving"); // without a record
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (unsigned sum = 0;;)
        for (unsigned i = 0; i < SIZE; i++) {
            unsigned other = (sum ^ i * 2654435761u) % SIZE;
            table[other] += table[i] + 1;
            sum += table[other];
        }
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    clean_up(NULL); // main itself has a buffer from now on
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    puts("computing");
    getchar();
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    printf("cleaned %u\n", cleaned[0]);
    return 0;
}
