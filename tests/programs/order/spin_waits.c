// Two threads pass a token to and fro, in each of the ways to wait for it in a loop. The second one is late each time,
// so that the first one waits for long.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 5, LATE_US = 2000 };

int flushed;
volatile int paused, spun;
_Atomic int acquired, relaxed, yielded;
long work[2];

static void wait_flushed(int turn) {
    while (flushed != turn) {
#pragma omp flush
    }
}

static void wait_paused(int turn) {
    while (paused != turn)
        __builtin_ia32_pause();
}

static void wait_spun(int turn) {
    while (spun != turn)
        __asm__ volatile("pause" ::: "memory");
}

static void wait_acquired(int turn) {
    while (atomic_load_explicit(&acquired, memory_order_acquire) != turn) {
    }
}

static void wait_relaxed(int turn) {
    while (atomic_load_explicit(&relaxed, memory_order_relaxed) != turn)
        atomic_thread_fence(memory_order_seq_cst);
}

static void wait_yielded(int turn) {
    while (atomic_load(&yielded) != turn)
        sched_yield();
}

static void pass_on(int turn) {
    flushed = turn;
#pragma omp flush
    paused = turn;
    spun = turn;
    atomic_store_explicit(&acquired, turn, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&relaxed, turn, memory_order_relaxed);
    atomic_store(&yielded, turn);
}

static void *late(void *unused) {
    (void)unused;
    void (*const waits[])(int) = {wait_flushed, wait_paused, wait_spun, wait_acquired, wait_relaxed, wait_yielded};
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < 6; way++) {
            int turn = (round * 6 + way) * 2 + 1;
            waits[way](turn);
            usleep(LATE_US);
            work[1] += work[0];
            pass_on(turn + 1);
        }
    return NULL;
}

int main(void) {
    void (*const waits[])(int) = {wait_flushed, wait_paused, wait_spun, wait_acquired, wait_relaxed, wait_yielded};
    pthread_t thread;
    pthread_create(&thread, NULL, late, NULL);
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < 6; way++) {
            int turn = (round * 6 + way) * 2 + 1;
            work[0]++;
            pass_on(turn);
            waits[way](turn + 1);
        }
    pthread_join(thread, NULL);
    printf("%ld %ld\n", work[0], work[1]);
    return 0;
}
