// Windows that the program's text decides. Arguments: the mode, and how often it goes around.
//
// `text`: accesses to `inside` are made in windows only, those to `outside` outside of them. `loop`: one
// endless-looking loop of main's own, of calls and accesses. `mixed`: windows begin and end in loops, recursion,
// callees and threads. `exec`: the program is executed anew within a window. `starting`: threads begin and end while
// windows do.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trackway.h>
#include <unistd.h>

#define LENGTH 100

static volatile long inside[LENGTH], outside[LENGTH];

__attribute__((noinline)) static void fill(volatile long *array) {
    for (int i = 0; i < LENGTH; i++)
        array[i] = i;
}

static void text(int rounds) {
    for (int i = 0; i < rounds; i++) {
        outside[i % LENGTH] = i;
        fill(outside);
        trackway_start();
        inside[i % LENGTH] = i;
        fill(inside);
        trackway_mark(i == 2 ? "third" : "round");
        inside[i % LENGTH]++;
        trackway_stop();
        outside[i % LENGTH]++;
    }
    fill(outside);
}

struct node {
    struct node *next;
    long value;
};

__attribute__((noinline)) static long sum(const struct node *n) {
    long total = 0;
    for (; n; n = n->next)
        total += n->value;
    return total;
}

__attribute__((noinline)) static long loop(int rounds) {
    struct node nodes[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        nodes[i] = (struct node){i + 1 < LENGTH ? &nodes[i + 1] : NULL, i};
    long total = 0;
    for (int i = 0; i < rounds; i++) {
        nodes[i % LENGTH].value = i % 7;
        total += sum(nodes);
    }
    return total;
}

static int depth(int n) {
    if (n == 7)
        trackway_start();
    if (n == 3)
        trackway_stop();
    return n < 2 ? n : depth(n - 1) + depth(n - 2);
}

static void *in_thread(void *rounds) {
    long total = 0;
    for (long i = 0; i < (long)rounds; i++) {
        if (i % 5 == 2)
            trackway_start();
        total += loop(20);
        if (i % 7 == 3)
            trackway_stop();
    }
    return (void *)total;
}

static jmp_buf back;
static volatile sig_atomic_t signals;

static void on_signal(int signal) {
    (void)signal;
    if (signals % 2)
        trackway_start();
    else
        trackway_stop();
    signals++;
}

static void jump(int i) {
    trackway_start();
    fill(inside);
    longjmp(back, i + 1);
}

static void mixed(int rounds) {
    signal(SIGUSR1, on_signal);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, in_thread, (void *)(long)rounds);
    long total = 0;
    for (int i = 0; i < rounds; i++) {
        total += depth(9);
        raise(SIGUSR1);
        total += loop(3);
        int came = setjmp(back);
        if (!came)
            jump(i);
        trackway_stop();
        total += came;
    }
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        total += (long)result;
    }
    fflush(stdout);
    pid_t child = fork();
    trackway_start();
    total += loop(50);
    if (child == 0)
        _exit((int)(total & 63));
    int status;
    waitpid(child, &status, 0);
    printf("%ld, and %d of the child\n", total, WEXITSTATUS(status));
}

static void execute_anew(char *program) {
    fill(outside);
    trackway_start();
    fill(inside);
    char *arguments[] = {program, "executed", NULL};
    execv(program, arguments);
    abort();
}

static void executed(void) {
    fill(inside);
    trackway_stop();
    fill(outside);
}

static void *fill_own(void *array) {
    fill(array);
    return NULL;
}

static void starting(int rounds) {
    static volatile long arrays[4][LENGTH];
    for (int i = 0; i < rounds; i++) {
        pthread_t threads[4];
        for (int t = 0; t < 4; t++) {
            pthread_create(&threads[t], NULL, fill_own, (void *)arrays[t]);
            if (t % 2) {
                inside[t] = i; // recorded however late the threads come to run
                trackway_stop();
            } else {
                trackway_start();
            }
        }
        for (int t = 0; t < 4; t++)
            pthread_join(threads[t], NULL);
    }
    printf("%ld\n", arrays[3][LENGTH - 1]);
}

int main(int argc, char **argv) {
    int rounds = argc > 2 ? atoi(argv[2]) : 10;
    if (argc < 2)
        return 2;
    if (!strcmp(argv[1], "text"))
        text(rounds);
    else if (!strcmp(argv[1], "loop"))
        printf("%ld\n", loop(rounds));
    else if (!strcmp(argv[1], "exec"))
        execute_anew(argv[0]);
    else if (!strcmp(argv[1], "executed"))
        executed();
    else if (!strcmp(argv[1], "starting"))
        starting(rounds);
    else
        mixed(rounds);
    printf("%ld %ld\n", inside[5], outside[7]);
}
