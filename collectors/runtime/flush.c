// Recording code calls this when it finds its buffer full.
//
// It preserves nearly all registers, and a dynamic linker that binds a function at its first call does not. So each
// object has its own, hidden one, which calls by the C convention the runtime that serves all.
#include "runtime.h"

__attribute__((preserve_most)) unsigned char *__trackway_flush(unsigned char *cursor) {
    return __trackway_next_buffer(cursor);
}
