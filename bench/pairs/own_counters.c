// Two threads count in one counter: each in its own, added at the end.
#include "pair.h"
#include <pthread.h>
#include <stdatomic.h>
enum { TURNS = 15000000 };
static atomic_ulong total;
static void *count(void *none) {
    unsigned long own = 0;
    (void)none;
    for (int i = 0; i < TURNS; i++) {
        unsigned long more = (i * 2654435761u) >> 28;
#ifdef AFTER
        *(volatile unsigned long *)&own += more;
#else
        atomic_fetch_add_explicit(&total, more, memory_order_relaxed);
#endif
    }
    atomic_fetch_add(&total, own);
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    print_sum(total);
}
