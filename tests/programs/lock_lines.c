// Two threads take turns, and each locks in its turn: two locks of one line (`near`), two of lines of their own
// (`far`), or one and the same (`same`). The second argument says how often.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct near_locks {
    pthread_mutex_t first;
    pthread_spinlock_t second;
};

static _Alignas(64) struct near_locks near_locks = {.first = PTHREAD_MUTEX_INITIALIZER};
static _Alignas(64) struct far_lock {
    _Alignas(64) pthread_mutex_t lock;
} far_locks[2] = {{PTHREAD_MUTEX_INITIALIZER}, {PTHREAD_MUTEX_INITIALIZER}};
static _Alignas(64) pthread_mutex_t same_lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) atomic_long turn;
static long rounds;
static const char *which;

static void lock_once(long own) {
    if (!strcmp(which, "near")) {
        if (own) {
            pthread_spin_lock(&near_locks.second);
            pthread_spin_unlock(&near_locks.second);
        } else {
            pthread_mutex_lock(&near_locks.first);
            pthread_mutex_unlock(&near_locks.first);
        }
    } else {
        pthread_mutex_t *lock = !strcmp(which, "far") ? &far_locks[own].lock : &same_lock;
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
    }
}

static void *take_turns(void *own) {
    for (long round = 0; round < rounds; round++) {
        while (atomic_load(&turn) != 2 * round + (long)own)
            sched_yield();
        lock_once((long)own);
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    which = argv[1];
    rounds = atol(argv[2]);
    pthread_spin_init(&near_locks.second, PTHREAD_PROCESS_PRIVATE);
    pthread_t other;
    if (pthread_create(&other, NULL, take_turns, (void *)1))
        return 1;
    take_turns(NULL);
    pthread_join(other, NULL);
    printf("%s %ld\n", which, atomic_load(&turn));
    return 0;
}
