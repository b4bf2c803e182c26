// Recording begins in a process, and modules are made known to the recorder.
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
VISIBLE const char __trackway_abi_9 = TRACKWAY_ABI;
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

static void attach(void) {
    struct trackway_ring *ring = __trackway_find_ring(secure_getenv("TRACKWAY_RING"));
    if (!ring || !speaks_our_version(ring))
        return;
    ring = __trackway_map_ring(ring);
    if (!ring) {
        __trackway_complain("cannot map the recorder's memory (is `ulimit -v` set?); this process runs unrecorded");
        return;
    }
    __trackway_process.pid = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0);
    __trackway_process.image = image_identity();
    __trackway_process.witness = new_witness();
    __trackway_process.ring = ring;
    __trackway_watch_threads();
    __trackway_abandon_former_image();
}

VISIBLE bool __trackway_is_recorded(void) { return __trackway_process.ring != NULL; }

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
    make_private(ring, ring->data_offset);
    __trackway_complain("a signal handler forked and returns in the child; the child runs on unrecorded");
}

struct sender {
    struct lane lane;
    struct stream thread;
    struct room room;
};

static void send(struct sender *sender, const void *bytes, uint64_t length) {
    const unsigned char *from = bytes;
    for (uint64_t i = 0; i < length; i++) {
        if (sender->room.begin == sender->room.end) {
            __trackway_hand_over(&sender->lane, sender->room.begin, 0);
            sender->room = __trackway_take(&sender->lane, &sender->thread);
        }
        *sender->room.begin++ = from[i];
    }
}

// Sends the module payload of docs/format.md, section 1.3. False if the recorder did not take it.
static bool send_module(const struct trackway_module *module, uint32_t first_id) {
    struct sender sender = {
        .lane = {.kind = TRACKWAY_MODULE, .stream = first_id, .must_wait = true},
        .thread = {.tid = (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0)},
    };
    uint32_t ids[2] = {first_id, module->segment_count};
    uint64_t address = (uint64_t)module;
    uint32_t symbols[2] = {(uint32_t)module->symbol_count, (uint32_t)(module->counter_offset / sizeof(uint64_t))};
    send(&sender, ids, sizeof ids);
    send(&sender, (const unsigned char *)module->table + 16, 8); // the table's key
    send(&sender, &address, sizeof address);
    send(&sender, symbols, sizeof symbols);
    send(&sender, (const void *)module->symbols, module->symbol_count * sizeof module->symbols[0]);
    send(&sender, &module->table_length, sizeof module->table_length);
    send(&sender, module->table, module->table_length);
    if (module->counter_count)
        send(&sender, &__trackway_process.image, sizeof __trackway_process.image);
    __trackway_hand_over(&sender.lane, sender.room.begin, TRACKWAY_LAST);
    return sender.lane.dropped == 0;
}

static void begin_module(struct trackway_module *module, uint32_t first_id) {
    if (module->counter_count)
        __atomic_store_n(&module->counts_up_to, TRACKWAY_COUNTS_NOW, __ATOMIC_RELEASE);
    else {
        module->id_base = first_id << 8;
        __atomic_store_n(&module->window, &__trackway_process.ring->window, __ATOMIC_RELEASE);
    }
}

static void register_module(struct trackway_module *module) {
    pthread_once(&attached, attach);
    bool is_registered = module->id_base || module->counts_up_to;
    if (!__trackway_process.ring)
        __trackway_counting.state = TRACKWAY_UNRECORDED; // this thread's functions need not ask further
    if (!__trackway_process.ring || is_registered)
        return;
    if (module->counter_count && !__trackway_place_counters(module)) {
        __trackway_complain("a buffer is too small for the counters of all modules: one of them runs uncounted; "
                            "record with a greater --buffer-size");
        return;
    }
    // A module that counts takes one, so that its number is its own.
    uint32_t ids = module->segment_count ? module->segment_count : 1;
    uint32_t first_id = __trackway_take_ids(ids);
    if (first_id == 0)
        __trackway_complain("more than 16,777,215 segments: one module of this program runs unrecorded");
    else if (send_module(module, first_id))
        begin_module(module, first_id);
}

VISIBLE void __trackway_register(struct trackway_module *module) {
    int saved_errno = errno;
    register_module(module);
    errno = saved_errno;
}
