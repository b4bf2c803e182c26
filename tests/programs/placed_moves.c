// Blocks of two call sites for `near` and `far` memory that move between both, grow, shrink, are aligned, zero, used by
// threads and until the very end. Prints where they lie, and what is wrong with them. With an argument it first closes
// all files and opens one of that name, which has to stay empty.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL __attribute__((noinline)) static void *
enum { THREADS = 4, ROUNDS = 3000, BLOCKS = 64, LATE_BYTES = 100000 };

CALL near_block(size_t size) {
    void *volatile block = malloc(size);
    return block;
}

CALL far_block(size_t size) {
    void *volatile block = malloc(size);
    return block;
}

CALL far_zero(size_t size) {
    void *volatile block = calloc(3, size);
    return block;
}

CALL far_aligned(size_t alignment, size_t size) {
    void *block = NULL;
    if (posix_memalign(&block, alignment, size) != 0)
        return NULL;
    return block;
}

CALL to_near(void *block, size_t size) {
    void *volatile moved = realloc(block, size);
    return moved;
}

CALL to_far(void *block, size_t size) {
    void *volatile moved = realloc(block, size);
    return moved;
}

static unsigned char *late;

static void complain(const char *what) {
    fprintf(stderr, "%s\n", what);
    _exit(3);
}

static unsigned char byte_at(size_t at, unsigned seed) { return (unsigned char)(at * 31 + seed); }

static void fill(unsigned char *block, size_t from, size_t to, unsigned seed) {
    if (!block)
        complain("no block");
    if ((uintptr_t)block % 16 != 0)
        complain("not aligned to 16");
    if (malloc_usable_size(block) < to)
        complain("too small");
    for (size_t at = from; at < to; at++)
        block[at] = byte_at(at, seed);
}

static void check(const unsigned char *block, size_t size, unsigned seed) {
    for (size_t at = 0; at < size; at++)
        if (block[at] != byte_at(at, seed))
            complain("other content");
}

// What the kernel knows of the block's mapping: a file of memkind's, or how it chooses nodes.
static void tell(const char *name, const void *block) {
    FILE *maps = fopen("/proc/self/numa_maps", "r");
    char line[2048], found[64] = "unknown";
    while (maps && fgets(line, sizeof line, maps)) {
        char policy[64];
        unsigned long low;
        if (sscanf(line, "%lx %63s", &low, policy) == 2 && low <= (uintptr_t)block)
            strcpy(found, strstr(line, "/memkind.") ? "memkind's file" : policy);
    }
    if (maps)
        fclose(maps);
    printf("%s %s\n", name, found);
}

static void move(void) {
    unsigned char *block = near_block(1000);
    fill(block, 0, 1000, 1);
    tell("allocated near:", block);
    block = to_far(block, 5000);
    check(block, 1000, 1);
    fill(block, 1000, 5000, 1);
    tell("moved far:", block);
    for (size_t size = 5000; size < 16 << 20; size *= 3) {
        block = to_far(block, 3 * size);
        check(block, size, 1);
        fill(block, size, 3 * size, 1);
    }
    tell("grown:", block);
    block = to_far(block, 100);
    check(block, 100, 1);
    tell("shrunk:", block);
    block = to_near(block, 200000);
    check(block, 100, 1);
    tell("moved near:", block);
    block = to_far(block, 10);
    check(block, 10, 1);
    if (to_far(block, 0) != NULL)
        complain("a block of no bytes");
}

static void align(void) {
    unsigned char *blocks[21];
    for (unsigned power = 4; power <= 20; power++) {
        size_t alignment = (size_t)1 << power;
        blocks[power] = far_aligned(alignment, 100 + alignment / 2);
        if ((uintptr_t)blocks[power] % alignment != 0)
            complain("not aligned");
        fill(blocks[power], 0, 100 + alignment / 2, power);
    }
    tell("aligned:", blocks[12]);
    for (unsigned power = 4; power <= 20; power++) {
        check(blocks[power], 100 + ((size_t)1 << power) / 2, power);
        free(blocks[power]);
    }
}

static void clear(void) {
    for (size_t size = 5; size < 4 << 20; size *= 7) {
        unsigned char *dirty = far_block(3 * size);
        fill(dirty, 0, 3 * size, 99);
        free(dirty);
        unsigned char *zero = far_zero(size);
        for (size_t at = 0; at < 3 * size; at++)
            if (zero[at] != 0)
                complain("not zero");
        free(zero);
    }
}

struct held {
    unsigned char *block;
    size_t size;
};

// Blocks that one thread allocated are freed by the next.
static struct held handed[THREADS][BLOCKS];

static void *churn(void *argument) {
    unsigned thread = (unsigned)(uintptr_t)argument, seed = thread + 1;
    struct held own[BLOCKS] = {{NULL, 0}};
    for (unsigned round = 0; round < ROUNDS; round++) {
        seed = seed * 1664525 + 1013904223;
        struct held *held = &own[seed >> 8 & (BLOCKS - 1)];
        if (held->block)
            check(held->block, held->size, thread);
        free(held->block);
        held->size = (seed >> 16) % (round % 100 == 0 ? 300000 : 3000);
        held->block = seed >> 14 & 1 ? far_block(held->size) : near_block(held->size);
        fill(held->block, 0, held->size, thread);
    }
    memcpy(handed[thread], own, sizeof own);
    return NULL;
}

static void *release(void *argument) {
    unsigned thread = (unsigned)(uintptr_t)argument;
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (handed[thread][i].block)
            check(handed[thread][i].block, handed[thread][i].size, thread);
        free(handed[thread][i].block);
    }
    return NULL;
}

static void in_threads(void *(*function)(void *)) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, function, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *write_for_ever(void *block) {
    for (unsigned char *bytes = block;; bytes = block)
        for (size_t at = 0; at < LATE_BYTES; at++)
            ((volatile unsigned char *)bytes)[at]++;
    return NULL;
}

static void look_at_late_block(void) {
    check(late, LATE_BYTES, 7);
    unsigned char *block = far_block(500);
    fill(block, 0, 500, 3);
    free(block);
    puts("at the end: as it was");
}

static int close_all(const char *path) {
    for (int file = 3; file < 1024; file++)
        close(file);
    int own = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    for (int i = 0; i < 100; i++)
        dup(own);
    return own;
}

int main(int count, char **arguments) {
    setvbuf(stdout, far_block(1 << 16), _IOFBF, 1 << 16); // it is written when the program has ended
    late = far_block(LATE_BYTES);
    fill(late, 0, LATE_BYTES, 7);
    atexit(look_at_late_block);
    struct stat status = {.st_size = 0};
    int own = count > 1 ? close_all(arguments[1]) : -1;
    move();
    align();
    clear();
    in_threads(churn);
    in_threads(release);
    if (own >= 0 && (fstat(own, &status) != 0 || status.st_size != 0))
        complain("something was written to the program's own file");
    pthread_t thread;
    pthread_create(&thread, NULL, write_for_ever, far_block(LATE_BYTES));
    puts("done");
    return 0;
}
