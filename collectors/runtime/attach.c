// Recording begins in a process.
#include "image.h"
#include "kernel.h"
#include "ring_name.h"
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct process __trackway_process;
VISIBLE const char __trackway_abi_11 = TRACKWAY_ABI;
static pthread_once_t attached = PTHREAD_ONCE_INIT;

void __trackway_complain(const char *message) {
    struct text line = {.length = 0};
    append(&line, "trackway: ");
    append(&line, message);
    append(&line, "\n");
    kernel_call(SYS_write, STDERR_FILENO, (long)line.bytes, (long)line.length, 0);
}

static bool speaks_our_version(const struct trackway_ring *ring) {
    if (__trackway_speaks_our_version(ring))
        return true;
    struct text message = {.length = 0};
    append(&message, "this program was built for runtime interface ");
    append_number(&message, TRACKWAY_ABI);
    append(&message, ", but the recorder has ");
    append_number(&message, ring->abi);
    append(&message, "; it runs unrecorded: rebuild it with the recorder's `trackway cc`");
    __trackway_complain(message.bytes);
    return false;
}

// A word that is 1 here and becomes 0 in processes that are forked, however that is done; but not by vfork.
static uint32_t *new_witness(void) {
    static uint32_t always = 1; // for old kernels
    uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return &always;
    if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
        munmap(page, 4096);
        return &always;
    }
    *page = 1;
    return page;
}

static void begin_process(void) {
    __trackway_process.pid = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0);
    __trackway_process.image = image_identity();
    __trackway_process.witness = new_witness();
    __trackway_watch_threads();
}

static void record_from_start(struct trackway_ring *first_page) {
    if (!speaks_our_version(first_page))
        return;
    struct trackway_ring *ring = __trackway_map_ring(first_page);
    if (!ring) {
        __trackway_complain("cannot map the recorder's memory (is `ulimit -v` set?); this process runs unrecorded");
        return;
    }
    __trackway_process.ring = ring;
    begin_process();
    __trackway_abandon_former_image();
    __trackway_leave_former_regions();
}

static void wait_for_recorder(void) {
    const char *wish = secure_getenv("TRACKWAY_ATTACH");
    if (wish && wish[0] == '0' && !wish[1])
        return;
    __trackway_process.dormant = __trackway_make_dormant_page();
    if (__trackway_process.dormant)
        begin_process();
}

static void attach(void) {
    struct trackway_ring *ring = __trackway_find_ring(secure_getenv("TRACKWAY_RING"));
    if (ring)
        record_from_start(ring);
    else
        wait_for_recorder();
}

void __trackway_attach(void) { pthread_once(&attached, attach); }

VISIBLE bool __trackway_may_be_recorded(void) { return __trackway_process.ring || __trackway_process.dormant; }

static void make_private(void *memory, size_t length) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(memory, length, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        __builtin_trap();
}

void __trackway_detach(void) {
    struct trackway_ring *ring = __trackway_process.ring;
    struct stream *stream = __trackway_this_stream();
    if (stream && stream->slot)
        stream->slot->dropped++; // the trace shows a gap
    // An empty ring, of which the recorder seems to be gone. The tables go last: they say how long windows are.
    for (unsigned window = TRACKWAY_WINDOWS; window-- > 0;)
        if (__trackway_process.windows[window])
            make_private(__trackway_process.windows[window], __trackway_window_length(window));
    struct room low = __trackway_low_room();
    if (low.begin)
        make_private(low.begin, (size_t)(low.end - low.begin));
    bool is_recorded = __trackway_in_session();
    make_private(ring, ring->data_offset);
    if (__trackway_process.dormant)
        make_private(__trackway_process.dormant, 4096);
    if (is_recorded)
        __trackway_complain("a signal handler forked and returns in the child; the child runs on unrecorded");
}
