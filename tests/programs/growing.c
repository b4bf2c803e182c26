// Makes one kind of thing again and again, as programs do that run for days: `growing KIND TIMES [LIBRARY]`.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 256, LASTING = 1000 };

static volatile uint64_t count;
static uint64_t words[WORDS];
static uint64_t *lasting[LASTING]; // every 1024th block, until its place is taken

// Which words are accessed can't be foreseen, so that records take memory.
__attribute__((noinline)) static void touch(unsigned times) {
    static uint64_t seed = 1;
    for (unsigned i = 0; i < times; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        words[seed >> 56] ^= seed;
    }
}

static void *live_shortly(void *argument) {
    (void)argument;
    touch(100);
    return NULL;
}

static void begin_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, live_shortly, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}

static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        touch(100);
        exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
        abort();
}

// Each child forks the next one and ends, as programs do that want another process number.
static void fork_heir(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        return;
    int status;
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    uint64_t (*total)(unsigned) = library ? (uint64_t (*)(unsigned))dlsym(library, "total_of_library") : NULL;
    if (!total || total(100) != 4950)
        abort();
    dlclose(library);
}

static void allocate(uint64_t time) {
    touch(4);
    uint64_t *block = malloc(64 + time % 64);
    if (!block)
        abort();
    block[0] = time;
    if (time % 1024 == 0) {
        free(lasting[time / 1024 % LASTING]);
        lasting[time / 1024 % LASTING] = block;
    } else {
        free(block);
    }
}

enum kind { WORK, THREADS, PROCESSES, HEIRS, LIBRARIES, BLOCKS, KINDS };

static enum kind kind_of(const char *name) {
    static const char *const names[KINDS] = {"work", "threads", "processes", "heirs", "libraries", "blocks"};
    for (int kind = 0; kind < KINDS; kind++)
        if (!strcmp(name, names[kind]))
            return (enum kind)kind;
    abort();
}

static void make(enum kind kind, uint64_t time, const char *library) {
    if (kind == THREADS)
        begin_thread();
    else if (kind == PROCESSES)
        fork_child();
    else if (kind == HEIRS)
        fork_heir();
    else if (kind == LIBRARIES)
        load(library);
    else if (kind == BLOCKS)
        allocate(time);
    else
        touch(100);
}

int main(int argc, char **argv) {
    enum kind kind = kind_of(argv[1]);
    uint64_t times = strtoull(argv[2], NULL, 10);
    for (uint64_t time = 0; time < times; time++) {
        make(kind, time, argc > 3 ? argv[3] : NULL);
        count++;
    }
    for (int i = 0; i < LASTING; i++)
        free(lasting[i]);
    printf("%llu\n", (unsigned long long)count);
    fflush(stdout);
    return 7; // worth a snapshot
}
