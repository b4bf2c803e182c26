// What a library must offer to compress/main.c. Both functions return the bytes written, 0 on failure.
#include <stddef.h>

size_t compress_text(const void *text, size_t size, void *out, size_t capacity, int level);
size_t decompress_text(const void *packed, size_t size, void *out, size_t capacity);
