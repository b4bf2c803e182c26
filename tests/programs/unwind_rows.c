// Reads rows of .eh_frame: hand-made ones, then those of a library, whole and with random bytes changed. A read outside
// of them is for the sanitizers to find.
#include "unwind_row.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 0, TABLE = 12, SHARED = 20, SHARED_BYTES = 24, FUNCTION = SHARED + SHARED_BYTES, CODE = 4096 };

static void put(unsigned char *at, uint32_t word) { memcpy(at, &word, sizeof word); }

// One function of 100 bytes at CODE, with these instructions after those of every compiler: CFA = rsp + 8.
static size_t make_table(unsigned char *bytes, const char *instructions, size_t length) {
    static const unsigned char header[] = {1, 0x1B, 3, 0x3B};
    static const unsigned char shared[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8, 0x90, 1, 0, 0};
    memcpy(bytes + HEADER, header, sizeof header);
    put(bytes + 4, SHARED - 4);
    put(bytes + 8, 1);
    put(bytes + TABLE, CODE);
    put(bytes + TABLE + 4, FUNCTION);
    put(bytes + SHARED, SHARED_BYTES - 4);
    put(bytes + SHARED + 4, 0);
    memcpy(bytes + SHARED + 8, shared, sizeof shared);
    put(bytes + FUNCTION, (uint32_t)(13 + length));
    put(bytes + FUNCTION + 4, FUNCTION + 4 - SHARED);
    put(bytes + FUNCTION + 8, CODE - FUNCTION - 8);
    put(bytes + FUNCTION + 12, 100);
    bytes[FUNCTION + 16] = 0;
    memcpy(bytes + FUNCTION + 17, instructions, length);
    return FUNCTION + 17 + length;
}

struct expected {
    const char *what, *instructions;
    size_t length;
    unsigned offset; // in the function
    enum rule_kind kind;
    uint32_t distance, saved;
};

#define ROW(what, instructions, ...) {what, instructions, sizeof(instructions) - 1, __VA_ARGS__}

static const struct expected expected[] = {
    ROW("entry", "", 0, FROM_STACK_POINTER, 1, 0),
    ROW("behind the function", "", 100, FRAME_POINTERS, 0, 0),
    ROW("before a push", "\x41\x0E\x10\x86\x02", 0, FROM_STACK_POINTER, 1, 0),
    ROW("behind a push", "\x41\x0E\x10\x86\x02", 1, FROM_STACK_POINTER, 2, 2),
    ROW("frame pointer", "\x41\x0E\x10\x86\x02\x43\x0D\x06", 50, FROM_FRAME_POINTER, 2, 2),
    ROW("large frame", "\x44\x0E\x90\xA2\x04", 50, FROM_STACK_POINTER, 8738, 0),
    ROW("too large a frame", "\x44\x0E\x80\x80\x40", 50, UNKNOWN_CALLER, 0, 0),
    ROW("epilogue", "\x44\x0E\x20\x0A\x44\x0E\x08\x44\x0B", 9, FROM_STACK_POINTER, 1, 0),
    ROW("behind the epilogue", "\x44\x0E\x20\x0A\x44\x0E\x08\x44\x0B", 20, FROM_STACK_POINTER, 4, 0),
    ROW("far advance", "\x03\x40\x00\x0E\x20", 63, FROM_STACK_POINTER, 1, 0),
    ROW("behind a far advance", "\x03\x40\x00\x0E\x20", 64, FROM_STACK_POINTER, 4, 0),
    ROW("rbp restored", "\x86\x02\x41\xC6", 1, FROM_STACK_POINTER, 1, 0),
    ROW("rbp lost", "\x07\x06", 0, FROM_STACK_POINTER, 1, SAVED_LOST),
    ROW("outermost", "\x07\x10", 0, OUTERMOST_FUNCTION, 0, 0),
    ROW("realigned", "\x0F\x03\x76\x78\x06\x10\x06\x02\x76\x00", 0, REALIGNED, 1, 0),
    ROW("other expression", "\x0F\x03\x77\x78\x06", 0, UNKNOWN_CALLER, 0, 0),
    ROW("other register", "\x0D\x0A", 0, UNKNOWN_CALLER, 0, 0),
    ROW("return address elsewhere", "\x90\x02", 0, UNKNOWN_CALLER, 0, 0),
    ROW("no such instruction", "\x3F", 0, UNKNOWN_CALLER, 0, 0),
    ROW("nothing remembered", "\x0B", 0, UNKNOWN_CALLER, 0, 0),
    ROW("remembered too often", "\x0A\x0A\x0A\x0A\x0A\x0A\x0A\x0A\x0A", 0, UNKNOWN_CALLER, 0, 0),
    ROW("cut off", "\x0E", 0, UNKNOWN_CALLER, 0, 0),
    ROW("endless number", "\x0E\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 0, UNKNOWN_CALLER, 0, 0),
};

// In memory of just the size, so that nothing after it can be read unnoticed.
static rule rule_in(const unsigned char *bytes, size_t size, unsigned offset) {
    unsigned char *copy = malloc(size);
    memcpy(copy, bytes, size);
    struct segment segment = {copy, copy + size};
    rule found = find_rule(&segment, copy, (uintptr_t)copy + CODE + offset);
    free(copy);
    return found;
}

static int check_made(const struct expected *row) {
    unsigned char bytes[256];
    size_t size = make_table(bytes, row->instructions, row->length);
    rule found = rule_in(bytes, size, row->offset);
    for (size_t shorter = 1; shorter < size; shorter++)
        if (kind_of(rule_in(bytes, shorter, 0)) != UNKNOWN_CALLER)
            return printf("%s: a rule, though it was cut at byte %zu\n", row->what, shorter);
    if (kind_of(found) == row->kind && distance_of(found) == row->distance && saved_of(found) == row->saved)
        return 0;
    return printf("%s: rule %u %u %u\n", row->what, kind_of(found), distance_of(found), saved_of(found));
}

// What the library's file has in the segment of .eh_frame_hdr, and what code it describes.
struct library {
    unsigned char *bytes;
    size_t size, header;
    uintptr_t address, code, code_size;
};

static struct library read_library(const char *path) {
    static unsigned char file[16 << 20];
    FILE *opened = fopen(path, "rb");
    if (!opened || fread(file, 1, sizeof file, opened) < sizeof(Elf64_Ehdr))
        exit(2);
    fclose(opened);
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)file;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(file + elf->e_phoff);
    struct library library = {0};
    uintptr_t header = 0;
    for (int i = 0; i < elf->e_phnum; i++)
        if (segments[i].p_type == PT_GNU_EH_FRAME)
            header = segments[i].p_vaddr;
    for (int i = 0; i < elf->e_phnum; i++) {
        const Elf64_Phdr *segment = &segments[i];
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_flags & PF_X) {
            library.code = segment->p_vaddr;
            library.code_size = segment->p_filesz;
        }
        if (header - segment->p_vaddr < segment->p_filesz) {
            library.bytes = malloc(library.size = segment->p_filesz);
            memcpy(library.bytes, file + segment->p_offset, library.size);
            library.header = header - segment->p_vaddr;
            library.address = segment->p_vaddr;
        }
    }
    return library;
}

static rule look_up(const struct library *library, uintptr_t offset) {
    struct segment segment = {library->bytes, library->bytes + library->size};
    uintptr_t code = (uintptr_t)library->bytes - library->address + library->code + offset;
    return find_rule(&segment, library->bytes + library->header, code);
}

static uint64_t next_random(void) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 33;
}

static void count_kinds(const struct library *library, unsigned long *kinds) {
    for (uintptr_t offset = 0; offset < library->code_size; offset += 5)
        kinds[kind_of(look_up(library, offset))]++;
}

static void print(const unsigned long *kinds) {
    for (int kind = 0; kind < 8; kind++)
        printf("%lu%c", kinds[kind], kind < 7 ? ' ' : '\n');
}

// Each round begins with the whole library. Every second one also changes the header, after which little may be found.
static void corrupt(const struct library *library, int rounds, unsigned long *kinds) {
    enum { HEADER_BYTES = 12, CHANGES = 1000 };
    unsigned char *header = library->bytes + library->header, *whole = malloc(library->size);
    memcpy(whole, library->bytes, library->size);
    for (int round = 0; round < rounds; round++) {
        memcpy(library->bytes, whole, library->size);
        size_t behind = library->size - library->header - HEADER_BYTES;
        for (int i = 0; i < CHANGES; i++)
            header[HEADER_BYTES + next_random() % behind] = (unsigned char)next_random();
        if (round % 2 == 1)
            header[next_random() % HEADER_BYTES] = (unsigned char)next_random();
        count_kinds(library, kinds);
    }
    free(whole);
}

int main(int count, char **arguments) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        wrong += check_made(&expected[i]) != 0;
    if (wrong || count < 2)
        return 1;
    struct library library = read_library(arguments[1]);
    unsigned long whole[8] = {0}, corrupted[8] = {0};
    count_kinds(&library, whole);
    print(whole);
    corrupt(&library, 20, corrupted);
    print(corrupted);
    free(library.bytes);
    return 0;
}
