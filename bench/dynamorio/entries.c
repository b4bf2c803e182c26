#include "entries.h"

#include <lz4.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BASES = 255, NEW_BASE = 255, LONGEST_LINE = 64, IS_WRITE = 0x8000 };

// With 32-bit offsets: a part of memory of 4 GiB gets a number when it is first met, for addresses and program counters
// alike; an offset is that to the part's begin (`base`), or of an address to the last one in its part (`last`).
struct short_entry {
    uint32_t offset;
    uint32_t pc_offset;
    uint16_t size; // and IS_WRITE
    uint8_t base;  // NEW_BASE: `offset` has the upper half of the addresses of a part, `size` is its number
    uint8_t pc_base;
};
_Static_assert(sizeof(struct short_entry) == 12, "without gaps");

struct base {
    uint32_t upper_half;
    uint32_t last;
};

struct output {
    const struct options *options;
    file_t file;
    size_t scratch_bytes, packed_bytes;
    char *scratch, *packed;
    void *lz4_state;
    struct base bases[MOST_BASES];
    uint32_t base_count;
};

static void give_up(const char *what) {
    dr_fprintf(STDERR, "memtrace: %s\n", what);
    dr_abort();
}

static void *allocate(size_t size) { return dr_raw_mem_alloc(size, DR_MEMPROT_READ | DR_MEMPROT_WRITE, NULL); }

// ---- Options -------------------------------------------------------------------------------------------------------

static bool is_form(const char *word, enum form *form) {
    static const char *const names[] = {"none", "binary", "text", "base", "last"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) {
            *form = (enum form)i;
            return true;
        }
    return false;
}

static bool read_option(const char *word, struct options *options) {
    if (is_form(word, &options->form))
        return true;
    if (strcmp(word, "idle") == 0)
        options->is_idle = true;
    else if (strcmp(word, "lz4") == 0)
        options->is_compressed = true;
    else if (strncmp(word, "buffer=", 7) == 0)
        options->buffer_bytes = strtoull(word + 7, NULL, 10);
    else if (strncmp(word, "output=", 7) == 0)
        snprintf(options->path, sizeof options->path, "%s", word + 7);
    else
        return false;
    return true;
}

bool read_options(const char *words, struct options *options) {
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", words);
    char *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (!read_option(word, options))
            return false;
    return true;
}

// ---- Files ---------------------------------------------------------------------------------------------------------

static file_t open_file(const struct options *options, thread_id_t thread) {
    char path[sizeof options->path + 16];
    bool is_main = thread == dr_get_process_id();
    snprintf(path, sizeof path, is_main ? "%s" : "%s.%d", options->path, (int)thread);
    file_t file = dr_open_file(path, DR_FILE_WRITE_OVERWRITE | DR_FILE_ALLOW_LARGE | DR_FILE_CLOSE_ON_FORK);
    if (file == INVALID_FILE)
        give_up("the output can't be opened");
    return file;
}

struct output *open_output(const struct options *options, thread_id_t thread) {
    struct output *output = allocate(sizeof *output);
    *output = (struct output){.options = options};
    if (options->form == FORM_NOTHING)
        return output;
    output->file = open_file(options, thread);
    if (options->form != FORM_BINARY)
        output->scratch_bytes = options->buffer_bytes / sizeof(struct entry) * LONGEST_LINE;
    size_t most_bytes = output->scratch_bytes ? output->scratch_bytes : options->buffer_bytes;
    if (output->scratch_bytes)
        output->scratch = allocate(output->scratch_bytes);
    if (options->is_compressed) {
        output->packed_bytes = sizeof(uint32_t) + (size_t)LZ4_compressBound((int)most_bytes);
        output->packed = allocate(output->packed_bytes);
        output->lz4_state = allocate((size_t)LZ4_sizeofState());
    }
    return output;
}

void close_output(struct output *output) {
    if (output->options->form != FORM_NOTHING)
        dr_close_file(output->file);
    if (output->scratch)
        dr_raw_mem_free(output->scratch, output->scratch_bytes);
    if (output->packed) {
        dr_raw_mem_free(output->packed, output->packed_bytes);
        dr_raw_mem_free(output->lz4_state, (size_t)LZ4_sizeofState());
    }
    dr_raw_mem_free(output, sizeof *output);
}

static void write_bytes(struct output *output, const char *bytes, size_t count) {
    if (dr_write_file(output->file, bytes, count) != (ssize_t)count)
        give_up("the output can't be written");
}

// A block with its length before it.
static void write_packed(struct output *output, const char *bytes, size_t count) {
    char *block = output->packed + sizeof(uint32_t);
    int room = (int)(output->packed_bytes - sizeof(uint32_t));
    uint32_t length = (uint32_t)LZ4_compress_fast_extState(output->lz4_state, bytes, block, (int)count, room, 1);
    if (length == 0)
        give_up("a block can't be compressed");
    memcpy(output->packed, &length, sizeof length);
    write_bytes(output, output->packed, sizeof length + length);
}

// ---- Forms ---------------------------------------------------------------------------------------------------------

static size_t as_text(struct output *output, const struct entry *entries, size_t count) {
    char *line = output->scratch;
    for (size_t i = 0; i < count; i++)
        line += snprintf(line, LONGEST_LINE, "0x%lx,%c,%d,0x%lx\n", entries[i].pc, entries[i].is_write ? 'w' : 'r',
                         (int)entries[i].size, entries[i].address);
    return (size_t)(line - output->scratch);
}

// The number of an address's part; a new one is announced.
static uint8_t base_of(struct output *output, uint64_t address, struct short_entry **next) {
    uint32_t upper_half = (uint32_t)(address >> 32);
    uint32_t number = 0;
    while (number < output->base_count && output->bases[number].upper_half != upper_half)
        number++;
    if (number < output->base_count)
        return (uint8_t)number;
    if (number == MOST_BASES)
        give_up("the program uses more parts of memory than offsets can name");
    output->bases[output->base_count++] = (struct base){.upper_half = upper_half};
    *(*next)++ = (struct short_entry){.base = NEW_BASE, .offset = upper_half, .size = (uint16_t)number};
    return (uint8_t)number;
}

static size_t with_offsets(struct output *output, const struct entry *entries, size_t count) {
    struct short_entry *next = (struct short_entry *)output->scratch;
    bool is_to_last = output->options->form == FORM_LAST;
    for (size_t i = 0; i < count; i++) {
        uint8_t pc_base = base_of(output, entries[i].pc, &next), number = base_of(output, entries[i].address, &next);
        struct base *base = &output->bases[number];
        uint32_t offset = (uint32_t)entries[i].address - base->last;
        if (is_to_last)
            base->last = (uint32_t)entries[i].address;
        uint16_t size = (uint16_t)(entries[i].size | (entries[i].is_write ? IS_WRITE : 0));
        *next++ = (struct short_entry){offset, (uint32_t)entries[i].pc, size, number, pc_base};
    }
    return (size_t)((char *)next - output->scratch);
}

void write_entries(struct output *output, const struct entry *entries, size_t count) {
    const char *bytes = output->scratch;
    size_t length = 0;
    switch (output->options->form) {
    case FORM_NOTHING:
        return;
    case FORM_BINARY:
        bytes = (const char *)entries, length = count * sizeof *entries;
        break;
    case FORM_TEXT:
        length = as_text(output, entries, count);
        break;
    case FORM_BASE:
    case FORM_LAST:
        length = with_offsets(output, entries, count);
        break;
    }
    if (length > 0)
        (output->options->is_compressed ? write_packed : write_bytes)(output, bytes, length);
}
