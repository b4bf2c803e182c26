// Where the recorder's ring is: what TRACKWAY_RING says.
#ifndef TRACKWAY_RING_NAME_H
#define TRACKWAY_RING_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In the order of the variable.
struct ring_name {
    uint64_t descriptor, device, inode, recorder;
};

struct text {
    char bytes[256];
    size_t length;
};

static inline void append(struct text *text, const char *more) {
    while (*more && text->length < sizeof text->bytes - 1)
        text->bytes[text->length++] = *more++;
    text->bytes[text->length] = 0;
}

static inline void append_number(struct text *text, uint64_t number) {
    char digits[21], *first = digits + 20;
    *first = 0;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    append(text, first);
}

static inline bool read_number(const char **text, uint64_t *number, char end) {
    const char *digit = *text;
    for (*number = 0; *digit >= '0' && *digit <= '9'; digit++)
        *number = *number * 10 + (uint64_t)(*digit - '0');
    *text = digit + 1;
    return *digit == end;
}

static inline bool read_name(const char *text, struct ring_name *name) {
    return read_number(&text, &name->descriptor, ':') && read_number(&text, &name->device, ':') &&
           read_number(&text, &name->inode, ':') && read_number(&text, &name->recorder, 0);
}

// The path at which the recorder has the ring open.
static inline struct text path_at_recorder(const struct ring_name *name) {
    struct text path = {.length = 0};
    append(&path, "/proc/");
    append_number(&path, name->recorder);
    append(&path, "/fd/");
    append_number(&path, name->descriptor);
    return path;
}

#endif
