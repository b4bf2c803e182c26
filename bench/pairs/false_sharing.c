// Two threads count in neighbouring fields: each in a line of its own.
#include "pair.h"
#include <pthread.h>
#include <stdatomic.h>
enum { TURNS = 15000000 };
struct counters {
    atomic_ulong mine;
#ifdef AFTER
    char padding[120];
#endif
};
static struct counters counters[2] __attribute__((aligned(128)));
static void *count(void *mine) {
    struct counters *own = mine;
    for (int i = 0; i < TURNS; i++)
        atomic_fetch_add_explicit(&own->mine, i & 3, memory_order_relaxed);
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, &counters[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    print_sum(counters[0].mine + counters[1].mine);
}
