#include "zlib.h"
#include "codec.h"

size_t compress_text(const void *text, size_t size, void *out, size_t capacity, int level) {
    uLongf packed = capacity;
    return compress2(out, &packed, text, size, level) == Z_OK ? packed : 0;
}

size_t decompress_text(const void *packed, size_t size, void *out, size_t capacity) {
    uLongf text = capacity;
    return uncompress(out, &text, packed, size) == Z_OK ? text : 0;
}
