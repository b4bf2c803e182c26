// Threads that inherit the regions in which they are created.
//
// The new thread runs a function of ours, which joins the regions and calls the program's. What that needs is on the
// creating thread's stack, and the regions are in its tally; so it waits until the new thread is done with both. It
// takes no signal meanwhile, as in the C library's function: neither a handler nor cancellation may take the stack
// away.
#include "threads.h"

#include "kernel.h"

#include <signal.h>

#define SECONDS_OF_A_WAIT 3600
#define CANCELLATION (UINT64_C(1) << (__SIGRTMIN - 1)) // the C library's signal for it

union routine {
    void *(*posix)(void *);
    thrd_start_t c11;
};

struct start {
    union routine routine;
    void *argument;
    uint64_t regions;   // as __trackway_share_with_thread keeps them
    uint64_t signals;   // those that the creating thread blocks
    bool keeps_signals; // the attributes of the new thread say what that blocks
    uint32_t is_copied;
};

VISIBLE void __trackway_share_with_thread(uint64_t *place);
VISIBLE uint32_t __trackway_begin_thread(const uint64_t *place);
VISIBLE void __trackway_leave_regions(uint32_t depth, const struct trackway_region *but);

// ---- In the new thread ----

static struct start begin(struct start *from, uint32_t *depth) {
    struct start own = *from;
    *depth = __trackway_begin_thread(&from->regions);
    __atomic_store_n(&from->is_copied, 1, __ATOMIC_RELEASE);
    futex_wake(&from->is_copied); // an address only: the memory may be something else's by now
    if (!own.keeps_signals)
        restore_signals(own.signals & ~CANCELLATION);
    return own;
}

static void leave(void *depth) { __trackway_leave_regions((uint32_t)(uintptr_t)depth, NULL); }

// One for all objects of a process, so that the function of one sees that another one has done its work.
VISIBLE void *__trackway_run_thread(void *from) {
    uint32_t depth;
    struct start own = begin(from, &depth);
    void *result;
    pthread_cleanup_push(leave, (void *)(uintptr_t)depth);
    result = own.routine.posix(own.argument);
    pthread_cleanup_pop(1);
    return result;
}

VISIBLE int __trackway_run_c11_thread(void *from) {
    uint32_t depth;
    struct start own = begin(from, &depth);
    int result;
    pthread_cleanup_push(leave, (void *)(uintptr_t)depth);
    result = own.routine.c11(own.argument);
    pthread_cleanup_pop(1);
    return result;
}

// ---- In the thread that creates it ----

static void wait_until_copied(struct start *start) {
    while (!__atomic_load_n(&start->is_copied, __ATOMIC_ACQUIRE))
        futex_wait(&start->is_copied, 0, SECONDS_OF_A_WAIT);
}

static bool say_signals(const pthread_attr_t *attributes) {
    sigset_t blocked;
    return attributes && pthread_attr_getsigmask_np(attributes, &blocked) == 0;
}

int __trackway_create_thread(create_thread *create, pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*routine)(void *), void *argument) {
    struct start start = {.routine.posix = routine, .argument = argument};
    __trackway_share_with_thread(&start.regions);
    if (!start.regions || routine == __trackway_run_thread)
        return create(thread, attributes, routine, argument);
    start.keeps_signals = say_signals(attributes);
    start.signals = block_signals();
    int error = create(thread, attributes, __trackway_run_thread, &start);
    if (error == 0)
        wait_until_copied(&start);
    restore_signals(start.signals);
    return error;
}

int __trackway_create_c11_thread(create_c11_thread *create, thrd_t *thread, thrd_start_t routine, void *argument) {
    struct start start = {.routine.c11 = routine, .argument = argument};
    __trackway_share_with_thread(&start.regions);
    if (!start.regions || routine == __trackway_run_c11_thread)
        return create(thread, routine, argument);
    start.signals = block_signals();
    int error = create(thread, __trackway_run_c11_thread, &start);
    if (error == thrd_success)
        wait_until_copied(&start);
    restore_signals(start.signals);
    return error;
}
