// flags: -pthread -mcx16
// tries: atomics of all widths, volatile, thread-local variables, threads that come and go
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static _Atomic unsigned char a8;
static _Atomic short a16;
static _Atomic int a32;
static _Atomic long a64;
static __int128 a128 __attribute__((aligned(16)));
static _Thread_local int mine[8];
static volatile int port;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static _Atomic double ad;
static void *work(void *arg) {
    long id = (long)arg;
    for (int i = 0; i < 50; i++) {
        a8++;
        a16 -= 2;
        atomic_fetch_xor(&a32, 0);
        atomic_fetch_add_explicit(&a64, i, memory_order_relaxed);
        mine[i & 7] += (int)id;
        __int128 old = a128;
        old = __sync_val_compare_and_swap(&a128, old, old);
        int e = -1;
        atomic_compare_exchange_strong(&a32, &e, 5);
        ad += 1;
    }
    long s = 0;
    for (int i = 0; i < 8; i++)
        s += mine[i];
    pthread_mutex_lock(&lock);
    total += s;
    pthread_mutex_unlock(&lock);
    return (void *)s;
}
int main(void) {
    long sum = 0;
    for (int round = 0; round < 5; round++) {
        pthread_t t[4];
        for (long i = 0; i < 4; i++)
            pthread_create(&t[i], 0, work, (void *)(i + round));
        for (int i = 0; i < 4; i++) {
            void *r;
            pthread_join(t[i], &r);
            sum += (long)r;
        }
    }
    for (int i = 0; i < 10; i++)
        port = port * 3 + i;
    atomic_store(&a8, (unsigned char)(a8 + 1));
    printf("%d %d %d %ld %ld %ld %d %d %.0f\n", a8, a16, a32, (long)a64, sum, total, port, mine[0], ad);
    return 0;
}
