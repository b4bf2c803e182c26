// Recording code calls this when it finds its buffer full.
//
// It preserves nearly all registers, and a dynamic linker that binds a function at its first call does not. So each
// object has its own, hidden one, which calls by the C convention the runtime that serves all.
#include "runtime.h"

__attribute__((preserve_most)) unsigned char *__trackway_flush(unsigned char *cursor) {
    return __trackway_next_buffer(cursor);
}

#ifdef __x86_64__
// For functions that must leave vector registers as they were: they would save them in frames of their own. Only
// registers of 16 bytes are preserved.
__attribute__((preserve_all)) unsigned char *__trackway_flush_all(unsigned char *cursor) {
    return __trackway_next_buffer(cursor);
}
#endif
