// Coroutines by makecontext and swapcontext: generators on stacks of their own, and a scheduler that takes the
// processor from its tasks in a signal handler, wherever they are.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { TASKS = 5, SIZE = 1024, ROUNDS = 150, STACK = 256 * 1024 };

static ucontext_t scheduler, tasks[TASKS];
static char *stacks[TASKS];
static unsigned tables[TASKS][SIZE];
static unsigned results[TASKS];
static volatile int running = -1;
static volatile int finished, switches;

static unsigned mix(unsigned *table, unsigned sum) {
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned other = (sum ^ i * 2654435761u) % SIZE;
        table[other] += table[i] + 1;
        sum += table[other];
    }
    return sum;
}

static void yield(void) { swapcontext(&tasks[running], &scheduler); }

static void generate(int number) {
    for (unsigned i = 0; i < ROUNDS; i++) {
        results[number] = mix(tables[number], results[number] + i);
        yield();
    }
    finished |= 1 << number;
    yield();
}

// Whether the task may be interrupted; contexts are exchanged only while it may not.
static void set_alarm(int how) {
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(how, &alarm_only, NULL);
}

static void compute(int number) {
    set_alarm(SIG_UNBLOCK);
    for (unsigned i = 0; i < ROUNDS; i++)
        results[number] = mix(tables[number], results[number] + i);
    set_alarm(SIG_BLOCK);
    finished |= 1 << number;
    yield();
}

static void on_alarm(int number) {
    (void)number;
    switches++;
    yield();
}

static void run_all(void (*task)(int)) {
    set_alarm(SIG_BLOCK);
    finished = 0;
    for (int i = 0; i < TASKS; i++) {
        getcontext(&tasks[i]);
        tasks[i].uc_stack.ss_sp = stacks[i];
        tasks[i].uc_stack.ss_size = STACK;
        tasks[i].uc_link = NULL;
        makecontext(&tasks[i], (void (*)(void))task, 1, i);
    }
    for (int i = 0; finished != (1 << TASKS) - 1; i = (i + 1) % TASKS)
        if (!(finished & 1 << i)) {
            running = i;
            swapcontext(&scheduler, &tasks[i]);
            running = -1;
        }
    for (int i = 0; i < TASKS; i++)
        printf("task %d: %u\n", i, results[i]);
}

int main(void) {
    for (int i = 0; i < TASKS; i++)
        stacks[i] = malloc(STACK);
    run_all(generate);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval each = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &each, NULL);
    run_all(compute);
    memset(&each, 0, sizeof each);
    setitimer(ITIMER_REAL, &each, NULL);
    printf("interrupted: %s\n", switches > 0 ? "yes" : "no");
    return 0;
}
