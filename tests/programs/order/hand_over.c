// Threads pass on slots of memory: each is written once, and then read by another thread that knows from the
// synchronisation which the first argument names that it was.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 2000 };

static long slots[SLOTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t filled;
static atomic_long published, lock_word;
static long next_slot, filled_slots;

// 0 for the first of two threads.
static long number_of_thread(void) {
    static atomic_long numbers;
    return atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
}

// Both threads take turns: who has the lock reads what the other one wrote, if it did.
static long take_turn(long own) {
    if (next_slot >= SLOTS)
        return -1;
    if (next_slot % 2 != own)
        return 0;
    long slot = next_slot++;
    long before = slot ? slots[slot - 1] : 0;
    slots[slot] = slot + 1;
    return before;
}

// It wasn't this thread's turn. To try again at once would fill the trace.
static void let_others_run(long before) {
    if (before == 0)
        usleep(1);
}

static void *with_mutex(void *sum) {
    long own = number_of_thread();
    for (long before = 0; before >= 0; *(long *)sum += before) {
        pthread_mutex_lock(&mutex);
        before = take_turn(own);
        pthread_mutex_unlock(&mutex);
        let_others_run(before);
    }
    return NULL;
}

static void *with_spinning(void *sum) {
    long own = number_of_thread();
    for (long before = 0; before >= 0; *(long *)sum += before) {
        while (atomic_exchange_explicit(&lock_word, 1, memory_order_acquire))
            ;
        before = take_turn(own);
        atomic_store_explicit(&lock_word, 0, memory_order_release);
        let_others_run(before);
    }
    return NULL;
}

static void *fill_ring(void *unused) {
    for (long i = 0; i < SLOTS; i++) {
        slots[i] = i + 1;
        atomic_store_explicit(&published, i + 1, memory_order_release);
    }
    return unused;
}

static void *drain_ring(void *sum) {
    for (long i = 0; i < SLOTS; i++) {
        while (atomic_load_explicit(&published, memory_order_acquire) <= i)
            usleep(1);
        *(long *)sum += slots[i];
    }
    return NULL;
}

static void *fill_under_condition(void *unused) {
    for (long i = 0; i < SLOTS; i++) {
        slots[i] = i + 1;
        pthread_mutex_lock(&mutex);
        filled_slots = i + 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *drain_under_condition(void *sum) {
    for (long i = 0; i < SLOTS; i++) {
        pthread_mutex_lock(&mutex);
        while (filled_slots <= i)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
        *(long *)sum += slots[i];
    }
    return NULL;
}

static void *fill_and_post(void *unused) {
    for (long i = 0; i < SLOTS; i++) {
        slots[i] = i + 1;
        sem_post(&filled);
    }
    return unused;
}

static void *wait_and_drain(void *sum) {
    for (long i = 0; i < SLOTS; i++) {
        sem_wait(&filled);
        *(long *)sum += slots[i];
    }
    return NULL;
}

// Between two barriers each of both threads writes a slot; after the second one it reads the other's.
static void *with_barrier(void *sum) {
    long own = number_of_thread();
    for (long i = 0; i + 2 <= SLOTS; i += 2) {
        slots[i + own] = i + 1;
        pthread_barrier_wait(&barrier);
        *(long *)sum += slots[i + 1 - own];
    }
    return NULL;
}

static void *answer(void *slot) {
    long *own = slot;
    own[1] = own[0] + 1;
    return NULL;
}

// The thread reads what was written before it was created; what it wrote is read after it was joined.
static long by_creation(void) {
    long sum = 0;
    for (long i = 0; i + 2 <= 200; i += 2) {
        pthread_t thread;
        slots[i] = i + 1;
        if (pthread_create(&thread, NULL, answer, &slots[i]) != 0)
            exit(1);
        pthread_join(thread, NULL);
        sum += slots[i + 1];
    }
    return sum;
}

static long by_two(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t threads[2];
    long sums[2] = {0, 0};
    void *(*bodies[2])(void *) = {first, second};
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, bodies[i], &sums[i]) != 0)
            exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sums[0] + sums[1];
}

static long run(const char *way) {
    if (strcmp(way, "mutex") == 0)
        return by_two(with_mutex, with_mutex);
    if (strcmp(way, "spinning") == 0)
        return by_two(with_spinning, with_spinning);
    if (strcmp(way, "ring") == 0)
        return by_two(fill_ring, drain_ring);
    if (strcmp(way, "condition") == 0)
        return by_two(fill_under_condition, drain_under_condition);
    if (strcmp(way, "semaphore") == 0)
        return by_two(fill_and_post, wait_and_drain);
    if (strcmp(way, "barrier") == 0)
        return by_two(with_barrier, with_barrier);
    return by_creation();
}

int main(int count, char **arguments) {
    if (count != 2 || pthread_barrier_init(&barrier, NULL, 2) != 0 || sem_init(&filled, 0, 0) != 0)
        return 2;
    printf("%ld\n", run(arguments[1]));
    return 0;
}
