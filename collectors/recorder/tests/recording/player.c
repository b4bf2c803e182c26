// A program that records by hand what the compiler pass would make it record: the first argument names the scene.
// Each access is a record of a global id and an 8-byte address, and is reported to the oracle.
#include "abi.h"
#include "table.h" // the module's table, and `play_function`: its function as the oracle knows it

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern _Thread_local struct trackway_thread __trackway_thread;
extern const char __trackway_abi_11;
void __trackway_register(struct trackway_module *module);
__attribute__((preserve_most)) unsigned char *__trackway_flush(unsigned char *cursor);
void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size);

static const uint32_t no_window;
static struct trackway_module module = {
    .segment_count = 1, .window = &no_window, .table = table, .table_length = sizeof table};

#ifdef TRACKWAY_TEST_FOREIGN_RING
// A ring of another interface version, from a recorder that we play ourselves.
static void offer_foreign_ring(void) {
    struct trackway_ring ring = {.magic = TRACKWAY_RING_MAGIC, .abi = 999};
    int descriptor = memfd_create("foreign", 0);
    struct stat file;
    char name[100];
    if (write(descriptor, &ring, sizeof ring) != sizeof ring || fstat(descriptor, &file) != 0)
        abort();
    snprintf(name, sizeof name, "%d:%llu:%llu:%d", descriptor, (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino, getpid());
    setenv("TRACKWAY_RING", name, 1);
}
#else
static void offer_foreign_ring(void) {}
#endif

__attribute__((constructor)) static void register_module(void) {
    offer_foreign_ring();
    errno = 77;
    __trackway_register(&module);
    if (errno != 77 || __trackway_abi_11 != TRACKWAY_ABI)
        abort();
}

static void record_access(uint64_t address) {
    if (!__atomic_load_n(module.window, __ATOMIC_RELAXED))
        return;
    unsigned char *cursor = __trackway_thread.cursor;
    if (cursor >= __trackway_thread.limit)
        cursor = __trackway_flush(cursor);
    memcpy(cursor, &module.id_base, 4);
    memcpy(cursor + 4, &address, 8);
    __trackway_thread.cursor = cursor + 12;
    __trackway_oracle_access(play_function, 1, address, 8);
}

// Visible, so that the player can also be built as a shared object.
__attribute__((visibility("default"))) void play(uint64_t first, uint64_t count) {
    errno = 78;
    for (uint64_t i = 0; i < count; i++)
        record_access(first + i);
    if (errno != 78)
        abort();
}

static uint64_t count = 1000;

static void *play_in_thread(void *first) {
    play((uint64_t)first, count);
    return NULL;
}

static void play_in_threads(uint64_t threads) {
    pthread_t thread[256];
    for (uint64_t i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, play_in_thread, (void *)((i + 1) << 32));
    for (uint64_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

// Every thread owns a buffer at the same time.
static pthread_barrier_t all_have_begun;

static void *play_together(void *first) {
    play((uint64_t)first, 1);
    pthread_barrier_wait(&all_have_begun);
    play((uint64_t)first + 1, count);
    return NULL;
}

static void many_threads(void) {
    pthread_t thread[200];
    pthread_barrier_init(&all_have_begun, NULL, 200);
    for (uint64_t i = 0; i < 200; i++)
        pthread_create(&thread[i], NULL, play_together, (void *)((i + 1) << 32));
    for (uint64_t i = 0; i < 200; i++)
        pthread_join(thread[i], NULL);
}

static void *play_and_stay(void *first) {
    play((uint64_t)first, count);
    pthread_barrier_wait(&all_have_begun);
    for (;;)
        pause();
}

// The process ends in order, and one of its threads with it.
static void outlive_a_thread(void) {
    pthread_t thread;
    pthread_barrier_init(&all_have_begun, NULL, 2);
    pthread_create(&thread, NULL, play_and_stay, (void *)(UINT64_C(1) << 32));
    pthread_barrier_wait(&all_have_begun);
    play(1, count);
}

static void say(const char *line) {
    puts(line);
    fflush(stdout);
}

static pthread_key_t late_key;

// Destructors that record after the runtime has seen the thread's end, and set the key for one more round.
static void record_late(void *round) {
    play(0xdead0000 + (uint64_t)round, 10);
    if ((uint64_t)round > 1)
        pthread_setspecific(late_key, (void *)((uint64_t)round - 1));
}

static void *play_to_the_end(void *first) {
    pthread_setspecific(late_key, (void *)4);
    return play_in_thread(first);
}

static void late_destructors(void) {
    pthread_t thread;
    pthread_key_create(&late_key, record_late);
    pthread_create(&thread, NULL, play_to_the_end, (void *)1);
    pthread_join(thread, NULL);
}

static int fork_and_play(void) {
    play(1, count);
    pid_t child = fork();
    play(child ? 2000000 : 1000000, count);
    if (child == 0)
        _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status;
}

// More children than may be remembered in buffers, if nobody swept them.
static int fork_often(void) {
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        play(1, 10);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    return 0;
}

static void play_again_in_new_image(char *self, bool close_descriptors) {
    play(1, count);
    if (close_descriptors)
        for (int descriptor = 3; descriptor < 4096; descriptor++)
            close(descriptor);
    execl(self, self, "count", "10000", (char *)NULL);
    abort();
}

// The parent ends at once; the child goes on.
static void leave_child_behind(useconds_t pause) {
    if (fork() != 0)
        _exit(3);
    for (int i = 0; i < 3; i++) {
        usleep(pause);
        play(1, count);
    }
    _exit(0);
}

static volatile sig_atomic_t got_signal;

static void on_signal(int signal) { got_signal = signal; }

// The parent ends at once; the child says when it is ready, and goes on for long.
static void leave_busy_child_behind(void) {
    if (fork() != 0)
        _exit(3);
    play(1, count);
    say("ready");
    sleep(20);
    _exit(0);
}

// The program and a shared object, each with a runtime of its own, take turns.
static int play_with_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 65;
    void (*play_there)(uint64_t, uint64_t) = (void (*)(uint64_t, uint64_t))dlsym(library, "play");
    for (uint64_t turn = 0; turn < 10; turn++) {
        play(turn * 200, 100);
        play_there(turn * 200 + 100, 100);
    }
    return 0;
}

// A shared object with a runtime of its own is unloaded before a thread that recorded in it ends.
static void *play_and_wait(void *play_there) {
    ((void (*)(uint64_t, uint64_t))play_there)(1, 100);
    pthread_barrier_wait(&all_have_begun);
    pthread_barrier_wait(&all_have_begun);
    return NULL;
}

static int unload_library(const char *path) {
    pthread_t thread;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    pthread_barrier_init(&all_have_begun, NULL, 2);
    pthread_create(&thread, NULL, play_and_wait, dlsym(library, "play"));
    pthread_barrier_wait(&all_have_begun);
    dlclose(library);
    bool still_there = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    pthread_barrier_wait(&all_have_begun);
    pthread_join(thread, NULL);
    return still_there ? 66 : 0;
}

// Says that it is ready and waits for a signal.
static int wait_for_signal(void) {
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    play(1, count);
    say("ready");
    while (!got_signal)
        pause();
    play(1, count);
    return got_signal;
}

// Goes on for as long as its input is open.
static int play_until_input_ends(void) {
    char byte;
    play(1, count);
    say("ready");
    bool input_ended = read(0, &byte, 1) <= 0;
    play(1, count);
    say("done");
    return input_ended ? 0 : 1;
}

static void *leave_without_destructors(void *first) {
    play((uint64_t)first, count);
    syscall(SYS_exit, 0);
    return NULL;
}

// Threads that end after the C library's back.
static int lose_threads(void) {
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, leave_without_destructors, (void *)1);
        pthread_detach(thread);
    }
    usleep(100000);
    play(1, count);
    return 0;
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
    if (argc > 2)
        count = strtoull(argv[2], NULL, 10);
    if (!strcmp(scene, "count"))
        play(1, count);
    else if (!strcmp(scene, "threads"))
        play_in_threads(8);
    else if (!strcmp(scene, "many-threads"))
        many_threads();
    else if (!strcmp(scene, "outlive"))
        outlive_a_thread();
    else if (!strcmp(scene, "late"))
        late_destructors();
    else if (!strcmp(scene, "fork"))
        return fork_and_play();
    else if (!strcmp(scene, "fork-often"))
        return fork_often();
    else if (!strcmp(scene, "exec"))
        play_again_in_new_image(argv[0], false);
    else if (!strcmp(scene, "exec-closed"))
        play_again_in_new_image(argv[0], true);
    else if (!strcmp(scene, "kill"))
        play(1, count), kill(getpid(), SIGKILL);
    else if (!strcmp(scene, "exit"))
        play(1, count), _exit(9);
    else if (!strcmp(scene, "library"))
        return play_with_library(argv[3]);
    else if (!strcmp(scene, "unload"))
        return unload_library(argv[3]);
    else if (!strcmp(scene, "leave"))
        leave_child_behind(count * 1000);
    else if (!strcmp(scene, "leave-ready"))
        leave_busy_child_behind();
    else if (!strcmp(scene, "signal"))
        return wait_for_signal();
    else if (!strcmp(scene, "input"))
        return play_until_input_ends();
    else if (!strcmp(scene, "lose-threads"))
        return lose_threads();
    else
        return 64;
    return 0;
}
