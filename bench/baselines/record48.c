// A record of 48 bytes for each access, made by a call and written to the file that RECORD48_FILE names: the scheme of
// DINAMITE. For programs of one thread.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct record {
    uint64_t sequence;
    uint64_t function;
    uint64_t opk;
    uint64_t address;
    uint64_t size;
    uint64_t thread;
};

enum { RECORDS = 1 << 14 };

static struct record buffer[RECORDS];
static size_t used;
static uint64_t sequence;
static int file = -1;

static void fail(const char *what) {
    perror(what);
    _exit(1);
}

static void flush(void) {
    const char *bytes = (const char *)buffer;
    size_t left = used * sizeof *buffer;
    while (left > 0) {
        ssize_t written = write(file, bytes, left);
        if (written <= 0)
            fail("record48");
        bytes += written;
        left -= (size_t)written;
    }
    used = 0;
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("RECORD48_FILE");
    file = open(path ? path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        fail("record48");
}

__attribute__((destructor)) static void finish(void) { flush(); }

void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size) {
    if (used == RECORDS)
        flush();
    buffer[used++] = (struct record){sequence++, function, opk, address, size, 0};
}

void __trackway_oracle_masked(uint64_t function, uint64_t opk, uint64_t address, const uint8_t *mask_bits,
                              uint32_t lanes, uint32_t size, uint32_t stride, uint32_t packed) {
    uint64_t position = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (!(mask_bits[lane / 8] >> lane % 8 & 1))
            continue;
        __trackway_oracle_access(function, opk, address + (packed ? position : lane) * stride, size);
        position++;
    }
}

void __trackway_oracle_gather(uint64_t function, uint64_t opk, const uint64_t *addresses, const uint8_t *mask_bits,
                              uint32_t lanes, uint32_t size) {
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (mask_bits[lane / 8] >> lane % 8 & 1)
            __trackway_oracle_access(function, opk, addresses[lane], size);
}
