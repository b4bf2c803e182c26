// A file that a thread fills through a buffer of its own. The environment variable BASELINE_FILE names it; the main
// thread's is that, another's ends in a dot and its number.
#ifndef BASELINES_OUTPUT_H
#define BASELINES_OUTPUT_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 1 << 20 };

struct output {
    char *bytes; // none: the thread has written nothing yet
    size_t used;
    int file;
    uint64_t records;
    uint64_t thread;
};

static _Thread_local struct output this_output;
static pthread_key_t end_of_thread;

static void give_up(const char *what) {
    perror(what);
    _exit(1);
}

static void write_out(struct output *output) {
    const char *bytes = output->bytes;
    size_t left = output->used;
    while (left > 0) {
        ssize_t written = write(output->file, bytes, left);
        if (written <= 0)
            give_up("baseline: write");
        bytes += written;
        left -= (size_t)written;
    }
    output->used = 0;
}

static void end_output(void *output) { write_out(output); }

__attribute__((constructor)) static void watch_threads(void) {
    if (pthread_key_create(&end_of_thread, end_output) != 0)
        give_up("baseline: pthread_key_create");
}

// The main thread's: its end runs no destructors of keys.
__attribute__((destructor)) static void end_main_output(void) {
    if (this_output.bytes)
        write_out(&this_output);
}

static void begin_output(struct output *output) {
    const char *path = getenv("BASELINE_FILE");
    char name[4096];
    output->thread = (uint64_t)syscall(SYS_gettid);
    bool is_main = output->thread == (uint64_t)getpid();
    snprintf(name, sizeof name, is_main ? "%s" : "%s.%llu", path ? path : "/dev/null",
             (unsigned long long)output->thread);
    output->file = open(path ? name : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    output->bytes = malloc(OUTPUT_SIZE);
    if (output->file < 0 || !output->bytes)
        give_up("baseline: output");
    if (!is_main)
        pthread_setspecific(end_of_thread, output);
}

// Room for `size` bytes; the caller adds to `used`.
static char *room_for(struct output *output, size_t size) {
    if (!output->bytes)
        begin_output(output);
    if (output->used + size > OUTPUT_SIZE)
        write_out(output);
    return output->bytes + output->used;
}

#endif
