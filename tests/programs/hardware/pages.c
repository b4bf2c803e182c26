// Regions that touch pages which the process doesn't have yet: each is one page fault. The first argument says how.
#define _GNU_SOURCE
#include <trackway.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_PAGES = 64, ENTRIES = 15, OFTEN = 3000, THREADS = 4 };

extern const char _start, etext;

static char *reserve(void) {
    char *memory = mmap(NULL, MOST_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    madvise(memory, MOST_PAGES * PAGE, MADV_NOHUGEPAGE);
    return memory;
}

static void forget(char *memory) { madvise(memory, MOST_PAGES * PAGE, MADV_DONTNEED); }

__attribute__((noinline)) static void touch(char *memory, int pages) {
    for (int i = 0; i < pages; i++)
        *(volatile char *)(memory + i * PAGE) = 1;
}

// So that the regions' code, stack and data are there already.
static char *prepare(void) {
    char *memory = reserve();
    for (const char *page = &_start; page < &etext; page += PAGE)
        (void)*(const volatile char *)page;
    TRACKWAY_REGION_BEGIN("prepared");
    touch(memory, 1);
    TRACKWAY_REGION_END("prepared");
    forget(memory);
    return memory;
}

static void alone(char *memory, int pages) {
    TRACKWAY_REGION_BEGIN("alone");
    touch(memory, pages);
    TRACKWAY_REGION_END("alone");
    forget(memory);
}

static void nested(char *memory, int outer, int inner) {
    TRACKWAY_REGION_BEGIN("outer");
    touch(memory, outer);
    TRACKWAY_REGION_BEGIN("inner");
    touch(memory + outer * PAGE, inner);
    TRACKWAY_REGION_END("inner");
    TRACKWAY_REGION_END("outer");
    forget(memory);
}

static void repeat(char *memory, int pages) {
    for (int i = 0; i < ENTRIES; i++)
        alone(memory, pages);
}

static void *run_thread(void *pages) {
    repeat(prepare(), (int)(long)pages);
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void run_nested(void) {
    char *memory = prepare();
    nested(memory, 0, 0);
    for (int i = 0; i < ENTRIES; i++)
        nested(memory, 3, 5);
}

static void run_forked(void) {
    repeat(prepare(), 2);
    if (fork() == 0) {
        repeat(prepare(), 7);
        exit(0);
    }
    wait(NULL);
}

static void run_often(void) {
    char *memory = prepare();
    for (int i = 0; i < OFTEN; i++)
        alone(memory, 4);
}

// ---- A program that closes everything, and opens descriptors of its own with the same numbers ----

static bool is_counter(const char *number) {
    char path[300], target[100] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", number);
    return readlink(path, target, sizeof target - 1) > 0 && strstr(target, "perf_event");
}

// Descriptors of hardware counters; 900 if there are none.
static int find_counters(int numbers[16]) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(folder)) && count < 16;)
        if (is_counter(entry->d_name))
            numbers[count++] = atoi(entry->d_name);
    closedir(folder);
    if (count == 0)
        numbers[count++] = 900;
    return count;
}

static void *close_all(void *numbers) {
    char *memory = prepare();
    alone(memory, 1);
    int *counters = numbers, count = find_counters(counters + 1), ends[2];
    counters[0] = count;
    for (int i = 3; i < 4096; i++)
        close(i);
    printf("%d", open("/dev/null", O_RDONLY));
    if (pipe(ends) != 0 || write(ends[1], "abc", 3) != 3)
        abort();
    printf(" %d %d", ends[0], ends[1]);
    for (int i = 1; i <= count; i++)
        dup2(ends[0], counters[i]);
    repeat(memory, 1);
    char text[4] = "";
    if (read(ends[0], text, 3) != 3)
        abort();
    printf(" %s", text);
    return NULL;
}

static void run_closing(void) {
    int numbers[17];
    pthread_t thread;
    printf("%d ", open("/dev/null", O_RDONLY));
    pthread_create(&thread, NULL, close_all, numbers);
    pthread_join(thread, NULL);
    for (int i = 1; i <= numbers[0]; i++)
        printf(" %s", fcntl(numbers[i], F_GETFD) >= 0 ? "open" : "closed");
    printf("\n");
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "alone";
    if (strcmp(scene, "alone") == 0)
        repeat(prepare(), 6);
    else if (strcmp(scene, "nested") == 0)
        run_nested();
    else if (strcmp(scene, "threads") == 0)
        run_threads();
    else if (strcmp(scene, "forked") == 0)
        run_forked();
    else if (strcmp(scene, "often") == 0)
        run_often();
    else if (strcmp(scene, "closing") == 0)
        run_closing();
    else
        return 1;
    return 0;
}
