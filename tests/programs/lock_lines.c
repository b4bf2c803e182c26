// Two threads take turns, and each locks in its turn: two locks of one line (`near`), two of lines of their own
// (`far`), or one and the same (`same`). The second argument says how often.
#include <pthread.h>
#include <semaphore.h>
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
// Waiting for a turn isn't recorded, so that traces don't depend on how long it takes.
static _Alignas(64) sem_t turns[2];
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
        sem_wait(&turns[(long)own]);
        lock_once((long)own);
        sem_post(&turns[!own]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    which = argv[1];
    rounds = atol(argv[2]);
    pthread_spin_init(&near_locks.second, PTHREAD_PROCESS_PRIVATE);
    sem_init(&turns[0], 0, 1);
    sem_init(&turns[1], 0, 0);
    pthread_t other;
    if (pthread_create(&other, NULL, take_turns, (void *)1))
        return 1;
    take_turns(NULL);
    pthread_join(other, NULL);
    printf("%s %ld\n", which, rounds);
    return 0;
}
