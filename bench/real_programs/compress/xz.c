#include "codec.h"
#include "lzma.h"

#include <stdint.h>

size_t compress_text(const void *text, size_t size, void *out, size_t capacity, int level) {
    size_t written = 0;
    lzma_ret done =
        lzma_easy_buffer_encode((uint32_t)level, LZMA_CHECK_CRC64, NULL, text, size, out, &written, capacity);
    return done == LZMA_OK ? written : 0;
}

size_t decompress_text(const void *packed, size_t size, void *out, size_t capacity) {
    uint64_t memory = UINT64_MAX;
    size_t read = 0, written = 0;
    lzma_ret done = lzma_stream_buffer_decode(&memory, 0, NULL, packed, &read, size, out, &written, capacity);
    return done == LZMA_OK ? written : 0;
}
