#include "zstd.h"
#include "codec.h"

size_t compress_text(const void *text, size_t size, void *out, size_t capacity, int level) {
    size_t packed = ZSTD_compress(out, capacity, text, size, level);
    return ZSTD_isError(packed) ? 0 : packed;
}

size_t decompress_text(const void *packed, size_t size, void *out, size_t capacity) {
    size_t text = ZSTD_decompress(out, capacity, packed, size);
    return ZSTD_isError(text) ? 0 : text;
}
