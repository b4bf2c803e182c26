// A program that counts by hand what the compiler pass would make it count: the first argument names the scene.
#include "abi.h"
#include "table.h" // the module's table

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern _Thread_local struct trackway_counting __trackway_counting;
void __trackway_register(struct trackway_module *module);
void __trackway_begin_counting(void);
void __trackway_enter_region(struct trackway_region *region);
void __trackway_leave_region(const struct trackway_region *region);

static struct trackway_module module = {
    .table = counting_table, .table_length = sizeof counting_table, .counter_count = 2, .has_regions = 1};
static struct trackway_region outer = {.name = "outer"}, inner = {.name = "inner"};

__attribute__((constructor)) static void register_module(void) { __trackway_register(&module); }

static void count(uint64_t times) {
    if (__trackway_counting.state == TRACKWAY_NOT_BEGUN)
        __trackway_begin_counting();
    if (__trackway_counting.state < TRACKWAY_COUNTS_NOW || __trackway_counting.state > module.counts_up_to)
        return;
    uint64_t *counters = (uint64_t *)(__trackway_counting.counters + module.counter_offset);
    counters[0] += times;
    counters[1] += 2 * times;
}

// outer: 10 and 1; inner: 5.
static void nest(void) {
    count(1000);
    __trackway_enter_region(&outer);
    count(10);
    __trackway_enter_region(&inner);
    count(5);
    __trackway_leave_region(&inner);
    count(1);
    __trackway_leave_region(&outer);
}

static void *nest_thrice(void *unused) {
    for (int i = 0; i < 3; i++)
        nest();
    return unused;
}

static void nest_in_threads(void) {
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, nest_thrice, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void nest_often(void) {
    for (int i = 0; i < 1000; i++)
        nest();
}

// The child counts for itself.
static int fork_within(void) {
    nest();
    __trackway_enter_region(&outer);
    pid_t child = fork();
    if (child == 0) {
        __trackway_enter_region(&outer);
        count(7);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

// The parent ends at once; the child says when it is within a region, and stays there.
static void leave_child_behind(void) {
    if (fork() != 0)
        _exit(3);
    __trackway_enter_region(&outer);
    count(7);
    puts("ready");
    fflush(stdout);
    sleep(20);
    _exit(0);
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
    if (!strcmp(scene, "threads"))
        nest_in_threads();
    else if (!strcmp(scene, "often"))
        nest_often();
    else if (!strcmp(scene, "kill"))
        nest(), __trackway_enter_region(&inner), count(2), kill(getpid(), SIGKILL);
    else if (!strcmp(scene, "fork"))
        return fork_within();
    else if (!strcmp(scene, "exec"))
        nest(), execl(argv[0], argv[0], "threads", (char *)NULL);
    else if (!strcmp(scene, "leave"))
        leave_child_behind();
    else
        return 64;
    return 0;
}
