// Serves until a file appears: threads follow lists, while the main thread does what its mode says. Its checks and its
// output are the same however it is recorded.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <trackway.h>
#include <unistd.h>

#define LENGTH 500

struct node {
    struct node *next;
    uint64_t key;
    uint64_t visits;
    uint64_t unused[5];
};

static int stopping;
static volatile sig_atomic_t alarms;

static struct node *make_list(unsigned length) {
    struct node *list = NULL;
    for (unsigned i = 0; i < length; i++) {
        struct node *node = calloc(1, sizeof *node);
        node->key = i * 2654435761u;
        node->next = list;
        list = node;
    }
    return list;
}

static void free_list(struct node *list) {
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

__attribute__((noinline)) static uint64_t visit(struct node *list) {
    uint64_t sum = 0;
    for (; list; list = list->next) {
        sum += list->key;
        list->visits++;
    }
    return sum;
}

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void *serve(void *argument) {
    struct node *list = make_list(LENGTH);
    uint64_t expected = visit(list), rounds = 1;
    for (; !__atomic_load_n(&stopping, __ATOMIC_RELAXED); rounds++)
        check(visit(list) == expected, "a list has changed");
    check(list->visits == rounds, "a visit was lost");
    *(uint64_t *)argument = expected;
    free_list(list);
    return argument;
}

// The same without a call.
static void *crunch(void *argument) {
    uint64_t numbers[LENGTH] = {0}, sum = 0, rounds = 0;
    for (; !__atomic_load_n(&stopping, __ATOMIC_RELAXED); rounds++)
        for (unsigned i = 0; i < LENGTH; i++)
            numbers[i * 7 % LENGTH] += i;
    for (unsigned i = 0; i < LENGTH; i++)
        sum += numbers[i] + (uint32_t)(i * 2654435761u);
    *(uint64_t *)argument = sum - rounds * (LENGTH * (LENGTH - 1) / 2);
    return argument;
}

// ---- What the main thread does meanwhile ----

static void *live_shortly(void *argument) {
    struct node *list = make_list(20);
    *(uint64_t *)argument = visit(list);
    free_list(list);
    return NULL;
}

static void begin_threads(void) {
    pthread_t threads[4];
    uint64_t sums[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, live_shortly, &sums[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        check(sums[i] == sums[0], "threads differ");
    }
}

static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        struct node *list = make_list(20);
        uint64_t expected = visit(list), sum = visit(list) + visit(list);
        exit(sum == 2 * expected ? 7 : 8);
    }
    int status;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child failed");
}

static void load_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    check(library != NULL, "no library");
    uint64_t (*total)(unsigned) = (uint64_t (*)(unsigned))dlsym(library, "total_of_library");
    check(total && total(100) == 4950, "the library is wrong");
    dlclose(library);
}

static void on_alarm(int number) {
    static struct node nodes[3];
    nodes[0].next = &nodes[1];
    nodes[1].next = &nodes[2];
    visit(nodes);
    alarms += number == SIGALRM;
}

static void set_alarms(void) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, NULL);
}

static void mark_a_visit(struct node *list) {
    trackway_start();
    visit(list);
    trackway_stop();
    usleep(500);
}

// In a function that runs on while recorders come and go.
static void stay_in_regions(const char *stop_file, struct node *list) {
    static volatile int of_region;
    while (access(stop_file, F_OK) != 0) {
        TRACKWAY_REGION_BEGIN("visit");
        of_region = 1;
        visit(list);
        TRACKWAY_REGION_END("visit");
        of_region = 2;
        usleep(500);
    }
}

static void stay_alert(const char *mode, const char *library, struct node *list) {
    if (!strcmp(mode, "threads"))
        begin_threads();
    else if (!strcmp(mode, "fork"))
        fork_child();
    else if (!strcmp(mode, "load"))
        load_library(library);
    else if (!strcmp(mode, "windows"))
        mark_a_visit(list);
    else
        usleep(1000);
}

int main(int argc, char **argv) {
    const char *stop_file = argv[1], *mode = argc > 3 ? argv[3] : "rest", *library = argc > 4 ? argv[4] : NULL;
    int count = argc > 2 ? atoi(argv[2]) : 2;
    pthread_t threads[64];
    uint64_t sums[64], sum = 0;
    struct node *list = make_list(10);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, strcmp(mode, "crunch") ? serve : crunch, &sums[i]);
    if (!strcmp(mode, "alarms"))
        set_alarms();
    printf("ready\n");
    fflush(stdout);
    if (!strcmp(mode, "regions"))
        stay_in_regions(stop_file, list);
    while (access(stop_file, F_OK) != 0)
        stay_alert(mode, library, list);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    free_list(list);
    printf("sum %llu\n", (unsigned long long)sum);
    return 3;
}
