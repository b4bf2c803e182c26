// Threads that pass blocks on, so that one frees what another allocated, while a timer's handler allocates mappings and
// leaves by siglongjmp every now and then. Then children are forked, which free what their parent allocated.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SHELVES = 64, TURNS = 5000, CHILDREN = 3, ALARMS = 60 };

static _Atomic(void *) shelves[SHELVES];

static void *pass_on(void *seed) {
    unsigned state = (unsigned)(size_t)seed;
    for (int turn = 0; turn < TURNS; turn++) {
        state = state * 1103515245u + 12345u;
        void *mine = malloc(16 + state % 200);
        if (state & 4096)
            mine = realloc(mine, 16 + (state >> 8) % 2000);
        free(atomic_exchange(&shelves[(state >> 16) % SHELVES], mine));
    }
    return NULL;
}

static sigjmp_buf back;
static volatile sig_atomic_t may_leave, alarms;

static void handle(int signal) {
    (void)signal;
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(mapped, 4096);
    if (++alarms % 7 == 0 && may_leave)
        siglongjmp(back, 1);
}

// Only mappings are in flight when the handler leaves: what malloc was doing would be lost for good.
static void map_under_alarms(void) {
    struct sigaction action = {.sa_handler = handle};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    sigsetjmp(back, 1);
    may_leave = 1;
    while (alarms < ALARMS) {
        void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(mapped, 4096);
    }
    may_leave = 0;
    setitimer(ITIMER_REAL, &never, NULL);
}

static void free_all(void) {
    for (int shelf = 0; shelf < SHELVES; shelf++)
        free(atomic_exchange(&shelves[shelf], NULL));
}

int main(void) {
    pthread_t threads[THREADS];
    pass_on((void *)(size_t)(THREADS + 1)); // while no other thread is there
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, pass_on, (void *)(i + 1));
    for (int child = 0; child < CHILDREN; child++)
        if (fork() == 0) { // while the others allocate
            _exit(0);
        }
    pass_on((void *)(size_t)(THREADS + 2));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int child = 0; child < CHILDREN; child++)
        if (fork() == 0) {
            free_all();
            _exit(0);
        }
    map_under_alarms();
    free_all();
    while (wait(NULL) > 0)
        ;
    return 0;
}
