// Threads that are created while a region is open, linked with --inherit=threads. Prints, by its own arithmetic, each
// region with its entries and the writes of `touched`, and what must be as in the plain program.
#define _GNU_SOURCE
#include "regions.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define THREADS 4
#define MANY 300

volatile long touched;
static sem_t done;

static void report(const char *name, long entries, long writes) { printf("%s: %ld %ld\n", name, entries, writes); }

static pthread_t create(void *(*routine)(void *), long argument) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, routine, (void *)argument);
    if (error)
        printf("pthread_create: %s\n", strerror(error));
    return thread;
}

static long join(pthread_t thread) {
    void *result;
    pthread_join(thread, &result);
    return (long)result;
}

static void *touches(void *times) {
    touch((int)(intptr_t)times);
    return times;
}

// The creating thread works, too.
static void shares(void) {
    pthread_t threads[THREADS];
    long sum = 0;
    TRACKWAY_REGION_BEGIN("shares");
    for (long i = 0; i < THREADS; i++)
        threads[i] = create(touches, 100 * (i + 1));
    touch(500);
    for (int i = 0; i < THREADS; i++)
        sum += join(threads[i]);
    TRACKWAY_REGION_END("shares");
    printf("results %ld\n", sum);
    report("shares", 1, 500 + 100 + 200 + 300 + 400);
}

static void *creates(void *depth) {
    touch(1);
    if (depth)
        join(create(creates, (long)depth - 1));
    touch(1);
    return NULL;
}

static void nests(void) {
    TRACKWAY_REGION_BEGIN("nests");
    join(create(creates, 5));
    TRACKWAY_REGION_END("nests");
    report("nests", 1, 6 * 2);
}

static void *enters(void *times) {
    touch(1);
    TRACKWAY_REGION_BEGIN("enters");
    touch((int)(intptr_t)times);
    TRACKWAY_REGION_BEGIN("enters");
    touch(1);
    TRACKWAY_REGION_END("enters");
    TRACKWAY_REGION_BEGIN("within");
    touch(2);
    TRACKWAY_REGION_END("within");
    TRACKWAY_REGION_END("enters");
    touch(1);
    return NULL;
}

// What a thread enters itself is an entry, though it is in the region already. Within it the rule is that of any
// thread.
static void enter(void) {
    for (int i = 0; i < 2; i++) {
        TRACKWAY_REGION_BEGIN("enters");
        pthread_t one = create(enters, 10), other = create(enters, 20);
        join(one);
        join(other);
        TRACKWAY_REGION_END("enters");
    }
    report("enters", 2 + 4, 2 * (10 + 20 + 2 * 3));
    report("within", 4, 4 * 2);
}

// Runs when the thread's function has been left: outside.
static void touches_after(void *unused) {
    (void)unused;
    touch(1000);
    sem_post(&done);
}

static pthread_key_t after;

static void cleans_up(void *times) { touch((int)(intptr_t)times); }

static void *exits(void *times) {
    pthread_setspecific(after, &after);
    pthread_cleanup_push(cleans_up, times);
    touch(1);
    pthread_exit((void *)7);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *is_cancelled(void *times) {
    pthread_setspecific(after, &after);
    pthread_cleanup_push(cleans_up, times);
    touch(1);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void *creates_while_cancelled(void *unused) {
    (void)unused;
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_cancel(pthread_self());
    pthread_create(&thread, &detached, exits, (void *)3);
    pthread_testcancel();
    puts("not cancelled");
    return NULL;
}

static void ends(void) {
    TRACKWAY_REGION_BEGIN("exits");
    long result = join(create(exits, 2));
    pthread_t cancelled = create(is_cancelled, 5), creating = create(creates_while_cancelled, 0);
    pthread_cancel(cancelled);
    printf("result %ld, cancelled %d %d\n", result, (void *)join(cancelled) == PTHREAD_CANCELED,
           (void *)join(creating) == PTHREAD_CANCELED);
    for (int i = 0; i < 3; i++)
        sem_wait(&done);
    TRACKWAY_REGION_END("exits");
    report("exits", 1, 1 + 2 + 1 + 5 + 1 + 3);
}

static sem_t region_left;

static void *outlives(void *times) {
    pthread_setspecific(after, &after);
    sem_wait(&region_left);
    touch((int)(intptr_t)times);
    TRACKWAY_REGION_BEGIN("later");
    touch(1);
    TRACKWAY_REGION_END("later");
    return NULL;
}

// It counts for the region as long as it runs.
static void detach(void) {
    TRACKWAY_REGION_BEGIN("detached");
    pthread_detach(create(outlives, 300));
    TRACKWAY_REGION_END("detached");
    touch(1000); // for nothing
    sem_post(&region_left);
    sem_wait(&done);
    report("detached", 1, 300);
    report("later", 1, 1);
}

static int touches_c11(void *times) {
    touch((int)(intptr_t)times);
    return (int)(intptr_t)times + 1;
}

static int exits_c11(void *times) {
    touch((int)(intptr_t)times);
    thrd_exit(9);
}

static void create_c11(void) {
    thrd_t one, other;
    int result = 0, exited = 0;
    TRACKWAY_REGION_BEGIN("C11");
    int error = thrd_create(&one, touches_c11, (void *)40) + thrd_create(&other, exits_c11, (void *)50);
    thrd_join(one, &result);
    thrd_join(other, &exited);
    TRACKWAY_REGION_END("C11");
    printf("C11 %d %d %d\n", error == 2 * thrd_success, result, exited);
    report("C11", 1, 90);
}

static void *says_signals(void *unused) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(&blocked, signal) == 1)
            printf(" %d", signal);
    puts(" blocked");
    return unused;
}

static void keep_signals(void) {
    sigset_t some, others;
    pthread_t thread;
    pthread_attr_t attributes;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigemptyset(&others);
    sigaddset(&others, SIGUSR2);
    sigaddset(&others, SIGTERM);
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &others);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    TRACKWAY_REGION_BEGIN("signals");
    join(create(says_signals, 0));
    pthread_create(&thread, &attributes, says_signals, NULL);
    join(thread);
    says_signals(NULL);
    TRACKWAY_REGION_END("signals");
    pthread_sigmask(SIG_UNBLOCK, &some, NULL);
    report("signals", 1, 0);
}

static volatile sig_atomic_t ticks;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

// Signals come all the time, most of them while a thread is being created.
static void create_many(void) {
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    long sum = 0;
    TRACKWAY_REGION_BEGIN("many");
    for (int i = 0; i < MANY; i++)
        sum += join(create(touches, 3));
    TRACKWAY_REGION_END("many");
    setitimer(ITIMER_REAL, &never, NULL);
    printf("many %ld\n", sum);
    report("many", 1, 3 * MANY);
}

// Without a new thread there is nothing to wait for.
static void fail(void) {
    pthread_t thread;
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 50);
    TRACKWAY_REGION_BEGIN("fails");
    int error = pthread_create(&thread, &huge, touches, (void *)1);
    touch(1);
    TRACKWAY_REGION_END("fails");
    printf("failed %d\n", error == EAGAIN);
    report("fails", 1, 1);
}

// The child has left the region; its threads are in those that it enters.
static void fork_child(void) {
    int status;
    fflush(stdout);
    TRACKWAY_REGION_BEGIN("forks");
    touch(1);
    pid_t child = fork();
    if (child == 0) {
        join(create(touches, 1000)); // for nothing
        TRACKWAY_REGION_BEGIN("child");
        join(create(touches, 60));
        TRACKWAY_REGION_END("child");
        _exit(3);
    }
    waitpid(child, &status, 0);
    TRACKWAY_REGION_END("forks");
    printf("child %d\n", WEXITSTATUS(status));
    report("forks", 1, 1);
    report("child", 1, 60);
}

int main(void) {
    sem_init(&done, 0, 0);
    sem_init(&region_left, 0, 0);
    pthread_key_create(&after, touches_after);
    join(create(touches, 1000)); // for nothing
    shares();
    nests();
    enter();
    ends();
    detach();
    create_c11();
    keep_signals();
    create_many();
    fail();
    fork_child();
    join(create(enters, 0)); // the only thread that is outside as it begins
    report("enters", 2 + 4 + 1, 2 * (10 + 20 + 2 * 3) + 1);
    report("within", 5, 5 * 2);
    return 5;
}
