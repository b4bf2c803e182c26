// What memtrace writes of a thread's buffer, and how.
#ifndef BENCH_DYNAMORIO_ENTRIES_H
#define BENCH_DYNAMORIO_ENTRIES_H

#include "dr_api.h"

#include <stdint.h>

struct entry {
    uint64_t is_write;
    uint64_t address;
    uint64_t size;
    uint64_t pc;
};

enum form { FORM_NOTHING, FORM_BINARY, FORM_TEXT, FORM_BASE, FORM_LAST };

struct options {
    bool is_idle; // the program runs as without a client
    enum form form;
    bool is_compressed;
    size_t buffer_bytes;
    char path[512];
};

struct output;

// `MEMTRACE_OPTIONS`: words of `none`, `binary`, `text`, `base`, `last`, `idle`, `lz4`, `buffer=BYTES`, `output=PATH`.
// False: one isn't known.
bool read_options(const char *words, struct options *options);

struct output *open_output(const struct options *options, thread_id_t thread);
void write_entries(struct output *output, const struct entry *entries, size_t count);
void close_output(struct output *output);

#endif
