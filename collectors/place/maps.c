// Lines of /proc/self/maps: "LOW-HIGH rwxp OFFSET DEVICE INODE PATH".
#include "maps.h"
#include "kernel.h"

#include <fcntl.h>

enum { LINE_BYTES = 4608 };

static char line[LINE_BYTES];

static uint64_t read_hexadecimal(const char **text) {
    uint64_t number = 0;
    for (; **text != '-' && **text != ' '; (*text)++)
        number = number * 16 + (uint64_t)(**text <= '9' ? **text - '0' : **text - 'a' + 10);
    (*text)++;
    return number;
}

static struct mapping mapping_of(const char *text) {
    struct mapping mapping;
    mapping.low = read_hexadecimal(&text);
    mapping.high = read_hexadecimal(&text);
    mapping.is_code = text[2] == 'x';
    mapping.is_shared = text[3] == 's';
    text += 5;
    mapping.offset = read_hexadecimal(&text);
    mapping.path = __builtin_strchr(text, '/');
    return mapping;
}

void for_each_mapping(void (*take)(const struct mapping *mapping, void *context), void *context) {
    char part[512];
    size_t used = 0;
    long length;
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    while (file >= 0 && (length = kernel_call(SYS_read, file, (long)part, sizeof part, 0)) > 0)
        for (long i = 0; i < length; i++) {
            if (part[i] != '\n') {
                if (used < LINE_BYTES - 1)
                    line[used++] = part[i];
                continue;
            }
            line[used] = 0;
            used = 0;
            struct mapping mapping = mapping_of(line);
            take(&mapping, context);
        }
    if (file >= 0)
        kernel_call(SYS_close, file, 0, 0, 0);
}

bool is_of_tracer(const struct mapping *mapping) {
    static const char name[] = "/preload.so";
    size_t length = mapping->path ? __builtin_strlen(mapping->path) : 0;
    return length >= sizeof name - 1 && __builtin_strcmp(mapping->path + length - (sizeof name - 1), name) == 0;
}
