// Two places that take time, in proportions that it measures and prints itself: arithmetic without memory, and a chase
// through more memory than the caches hold. With "threads" or "forked" a second thread, or a child, does the same; a
// number after "threads" asks for so many further ones.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 1 << 18 };

struct line {
    struct line *next;
    char rest[56];
};

static struct line *lines;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void link_lines(void) {
    lines = calloc(LINES, sizeof *lines);
    uint32_t *order = calloc(LINES, sizeof *order);
    if (!lines || !order)
        exit(2);
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < LINES; i++)
        order[i] = i;
    for (uint32_t i = LINES - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(next_random(&state) % i);
        uint32_t other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (uint32_t i = 0; i < LINES; i++)
        lines[i].next = &lines[order[i]];
    free(order);
}

__attribute__((noinline)) static struct line *chase(struct line *line, long steps) {
    for (long i = 0; i < steps; i++)
        line = line->next; // CHASE
    return line;
}

__attribute__((noinline)) static uint64_t compute(uint64_t value, long steps) {
    for (long i = 0; i < steps; i++)
        value = value * 6364136223846793005u + 1442695040888963407u; // COMPUTE
    return value;
}

static void *work(void *seconds) {
    double limit = *(double *)seconds, begin = now(), chased = 0, computed = 0;
    struct line *line = lines;
    uint64_t value = 1;
    while (now() - begin < limit) {
        double start = now();
        line = chase(line, 20000);
        double middle = now();
        value = compute(value, 500000);
        computed += now() - middle;
        chased += middle - start;
    }
    printf("chase %.4f compute %.4f %d\n", chased, computed, (int)((uintptr_t)line + value) & 1);
    fflush(stdout);
    return NULL;
}

int main(int count, char **arguments) {
    double seconds = count > 1 ? atof(arguments[1]) : 1;
    const char *how = count > 2 ? arguments[2] : "";
    link_lines();
    if (strcmp(how, "threads") == 0) {
        enum { MOST = 200 };
        pthread_t threads[MOST];
        int others = count > 3 ? atoi(arguments[3]) : 1;
        for (int i = 0; i < others && i < MOST; i++)
            if (pthread_create(&threads[i], NULL, work, &seconds))
                return 2;
        work(&seconds);
        for (int i = 0; i < others && i < MOST; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    pid_t child = strcmp(how, "forked") == 0 ? fork() : -1;
    work(&seconds);
    if (child > 0)
        wait(NULL);
    return 0;
}
