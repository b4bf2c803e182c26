// Two threads pass a token to and fro, in each of the ways to wait for it in a loop. The second one is late each time,
// so that the first one waits for long.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 5, WAYS = 7, LATE_US = 2000 };

int flushed, told[2];
static _Thread_local int own; // which of them; it is loaded again after each flush
volatile int paused, spun;
_Atomic int acquired, relaxed, yielded;
long work[2];

static void wait_flushed(int turn) {
    while (flushed != turn) {
#pragma omp flush
    }
}

static void wait_told(int turn) {
    while (told[own] != turn) {
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

// Only to the one way: the other thread may go on as soon as it sees this, and a store that came later would undo its
// own.
static void pass_on(int way, int turn) {
    switch (way) {
    case 0:
        flushed = turn;
#pragma omp flush
        break;
    case 1:
        paused = turn;
        break;
    case 2:
        spun = turn;
        break;
    case 3:
        atomic_store_explicit(&acquired, turn, memory_order_release);
        break;
    case 4:
        atomic_thread_fence(memory_order_seq_cst);
        atomic_store_explicit(&relaxed, turn, memory_order_relaxed);
        break;
    case 5:
        atomic_store(&yielded, turn);
        break;
    case 6:
        told[1 - own] = turn;
#pragma omp flush
        break;
    }
}

static void *late(void *unused) {
    (void)unused;
    own = 1;
    void (*const waits[WAYS])(int) = {wait_flushed, wait_paused,  wait_spun, wait_acquired,
                                      wait_relaxed, wait_yielded, wait_told};
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            int turn = (round * WAYS + way) * 2 + 1;
            waits[way](turn);
            usleep(LATE_US);
            work[1] += work[0];
            pass_on(way, turn + 1);
        }
    return NULL;
}

int main(void) {
    void (*const waits[WAYS])(int) = {wait_flushed, wait_paused,  wait_spun, wait_acquired,
                                      wait_relaxed, wait_yielded, wait_told};
    pthread_t thread;
    pthread_create(&thread, NULL, late, NULL);
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            int turn = (round * WAYS + way) * 2 + 1;
            work[0]++;
            pass_on(way, turn);
            waits[way](turn + 1);
        }
    pthread_join(thread, NULL);
    printf("%ld %ld\n", work[0], work[1]);
    return 0;
}
