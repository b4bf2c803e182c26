// Compresses a file at each level that the arguments name, decompresses it, compares, and prints the sizes.
#include "codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size);
    size_t read = fread(text, 1, *size, file);
    fclose(file);
    return read == *size ? text : NULL;
}

int main(int argc, char **argv) {
    size_t size = 0;
    char *text = argc > 2 ? read_file(argv[1], &size) : NULL;
    if (!text) {
        fprintf(stderr, "usage: %s FILE LEVEL...\n", argv[0]);
        return 2;
    }
    size_t capacity = size + size / 8 + 4096;
    void *packed = malloc(capacity), *again = malloc(size);
    for (int i = 2; i < argc; i++) {
        size_t packed_size = compress_text(text, size, packed, capacity, atoi(argv[i]));
        if (!packed_size || decompress_text(packed, packed_size, again, size) != size || memcmp(text, again, size)) {
            fprintf(stderr, "%s: level %s: the text does not come back\n", argv[0], argv[i]);
            return 1;
        }
        unsigned long long sum = 0;
        for (size_t at = 0; at < packed_size; at++)
            sum = sum * 31 + ((unsigned char *)packed)[at];
        printf("level %s: %zu of %zu bytes, sum %016llx\n", argv[i], packed_size, size, sum);
    }
    free(text), free(packed), free(again);
    return 0;
}
