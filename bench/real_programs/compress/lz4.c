#include "lz4.h"
#include "codec.h"
#include "lz4hc.h"

// Levels above 2 are those of the slow compressor, as in the command `lz4`.
size_t compress_text(const void *text, size_t size, void *out, size_t capacity, int level) {
    int packed = level > 2 ? LZ4_compress_HC(text, out, (int)size, (int)capacity, level)
                           : LZ4_compress_default(text, out, (int)size, (int)capacity);
    return (size_t)packed;
}

size_t decompress_text(const void *packed, size_t size, void *out, size_t capacity) {
    int text = LZ4_decompress_safe(packed, out, (int)size, (int)capacity);
    return text < 0 ? 0 : (size_t)text;
}
