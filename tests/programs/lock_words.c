/* Calls functions of locks, each with a step of its own: `step` is stored before it, and after it. Prints where `step`
   and the locks lie, and the functions' names in order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static union lock {
    pthread_mutex_t mutex;
    mtx_t of_c;
    pthread_spinlock_t spin;
    pthread_rwlock_t read_write;
} locks[4];
static volatile int step;

#define CALL(function, ...)                                                                                            \
    do {                                                                                                               \
        puts(#function);                                                                                               \
        step++;                                                                                                        \
        function(__VA_ARGS__);                                                                                         \
        step++;                                                                                                        \
    } while (0)

static void mutexes(pthread_mutex_t *mutex, const struct timespec *until) {
    CALL(pthread_mutex_init, mutex, NULL);
    CALL(pthread_mutex_lock, mutex);
    CALL(pthread_mutex_trylock, mutex);
    CALL(pthread_mutex_unlock, mutex);
    CALL(pthread_mutex_trylock, mutex);
    CALL(pthread_mutex_unlock, mutex);
    CALL(pthread_mutex_timedlock, mutex, until);
    CALL(pthread_mutex_unlock, mutex);
    CALL(pthread_mutex_clocklock, mutex, CLOCK_REALTIME, until);
    CALL(pthread_mutex_unlock, mutex);
}

static void mutexes_of_c(mtx_t *mutex, const struct timespec *until) {
    CALL(mtx_init, mutex, mtx_timed);
    CALL(mtx_lock, mutex);
    CALL(mtx_trylock, mutex);
    CALL(mtx_unlock, mutex);
    CALL(mtx_trylock, mutex);
    CALL(mtx_unlock, mutex);
    CALL(mtx_timedlock, mutex, until);
    CALL(mtx_unlock, mutex);
}

static void spin_locks(pthread_spinlock_t *spin) {
    CALL(pthread_spin_init, spin, PTHREAD_PROCESS_PRIVATE);
    CALL(pthread_spin_lock, spin);
    CALL(pthread_spin_trylock, spin);
    CALL(pthread_spin_unlock, spin);
    CALL(pthread_spin_trylock, spin);
}

static void read_write_locks(pthread_rwlock_t *lock, const struct timespec *until) {
    CALL(pthread_rwlock_init, lock, NULL);
    CALL(pthread_rwlock_rdlock, lock);
    CALL(pthread_rwlock_tryrdlock, lock);
    CALL(pthread_rwlock_trywrlock, lock);
    CALL(pthread_rwlock_timedrdlock, lock, until);
    CALL(pthread_rwlock_clockrdlock, lock, CLOCK_REALTIME, until);
    CALL(pthread_rwlock_unlock, lock);
    pthread_rwlock_unlock(lock);
    pthread_rwlock_unlock(lock);
    pthread_rwlock_unlock(lock);
    /* The first writer after readers also stores the futex of its phase. */
    pthread_rwlock_wrlock(lock);
    pthread_rwlock_unlock(lock);
    CALL(pthread_rwlock_wrlock, lock);
    CALL(pthread_rwlock_tryrdlock, lock);
    pthread_rwlock_unlock(lock);
    CALL(pthread_rwlock_trywrlock, lock);
    pthread_rwlock_unlock(lock);
    CALL(pthread_rwlock_timedwrlock, lock, until);
    pthread_rwlock_unlock(lock);
    CALL(pthread_rwlock_clockwrlock, lock, CLOCK_REALTIME, until);
}

int main(void) {
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += 60;
    printf("%p %p %zu\n", (void *)&step, (void *)locks, sizeof locks);
    mutexes(&locks[0].mutex, &until);
    mutexes_of_c(&locks[1].of_c, &until);
    spin_locks(&locks[2].spin);
    read_write_locks(&locks[3].read_write, &until);
    return 0;
}
