// What the compiled program, the runtime inside it and the recorder beside it agree on.
// Every layout here is of fixed width and little-endian; the recorder mirrors it and a test compares the two.
#ifndef TRACKWAY_ABI_H
#define TRACKWAY_ABI_H

#include <stdint.h>

// Raised whenever anything below changes, but for additions of which 0 says that they aren't there. Instrumented
// objects refer to the symbol `__trackway_abi_11`, which only a runtime of the same version defines: objects of
// different versions fail to link.
#define TRACKWAY_ABI 11

// ---- Between the pass and the runtime ------------------------------------------------------------------------------

// One per translation unit, emitted by the pass in writable data.
struct trackway_module {
    // 0: this module does not record. Else its first segment id, shifted left by 8: adding `index << 8` gives the word
    // that starts a record.
    uint32_t id_base;
    uint32_t segment_count;
    // The number of the window that is open (struct trackway_ring), or 0. Functions look there on entry: if it is 0,
    // they run their plain copy. Functions with marks of regions look at `regions_switch` of the ring, too. Until the
    // module is registered it points to zeros.
    const uint32_t *window;
    const void *table; // docs/format.md, section 2
    uint64_t table_length;
    const void *const *symbols;
    uint64_t symbol_count;
    struct trackway_module *next; // the runtime's list of registered modules

    // Set in a module that counts, else all 0 (docs/format.md, section 6):
    uint64_t counter_count;
    uint64_t counter_offset; // set by the runtime: bytes from `counters` of struct trackway_counting to the first one
    // The greatest state of a thread in which its functions count: TRACKWAY_COUNTS_NOW, or 0 until it is registered.
    uint64_t counts_up_to;
    // Also in a module that records: 1 + the number of its segment for struct trackway_region.
    uint64_t has_regions; // 0: it has none
};

// What the decoder of a buffer holds, as far as the program has to know. It stands at the end of the buffer, is no
// record, and all 0 at first.
struct trackway_cells {
    // The stream's registers (docs/format.md, section 2.1), divided by 2^32.
    uint32_t high_halves[512];
    // Who set the registers of a function: an address in the frame of one of its activations. Functions share owners.
    uint64_t owners[256];
};

// Thread-local, named `__trackway_thread`, initial-exec; all 0 in a new thread. Records go to `cursor`; a segment that
// finds `cursor >= limit` calls `__trackway_flush` first. Only then are there cells.
struct trackway_thread {
    unsigned char *cursor;
    unsigned char *limit;
    struct trackway_cells *cells;
};

// Thread-local, named `__trackway_counting`, initial-exec.
struct trackway_counting {
    uint64_t counters; // the address of counter 0: of the present region's node, or of counters that are never read
    uint64_t state;
    uint64_t open;       // reported regions in which the thread is
    uint64_t countdowns; // the address of a uint64_t for each region, by its index: entries not to report
};

enum trackway_counting_state {
    TRACKWAY_UNRECORDED = 0, // there are no counters: all functions run their plain copy
    TRACKWAY_COUNTS_NOT = 1, // outside of what is to be counted: only functions that enter regions run their other copy
    TRACKWAY_COUNTS_NOW = 2,
    TRACKWAY_NOT_BEGUN = 3, // of a new thread; the greatest, so that one comparison leads to the plain copy
};

// Thread-local, named `__trackway_recorded_window`, initial-exec, an uint32_t: the number of the window in which the
// thread records, or 0. A function that finds another one open calls __trackway_join_window.

// What the program says of the regions of interest in which it is; one for each name in a translation unit.
struct trackway_region {
    const char *name;
    uint64_t index; // 0 until the runtime gives it one; in a module that records, the XXH3-64 of the name
};

// Counters of a function that a module doesn't define, and calls. The compiled code takes 1 from `passing` for each
// call, and if it was 0 has the call timed.
struct trackway_callee {
    uint64_t passing;
    uint64_t interval; // each timed call speaks for so many; 0: for itself
    uint64_t timed_calls;
    uint64_t ticks; // of all calls, as far as the timed ones tell
};

// Bytes that may be written from a cursor below the limit: no record and no resume is longer.
#define TRACKWAY_SLACK 4096

// Bytes at the end of a buffer that records don't reach.
#define TRACKWAY_CELL_BYTES (sizeof(struct trackway_cells))

// What the runtime defines, once per process:
//
//   void __trackway_register(struct trackway_module *module)
//       Once per module, from a constructor.
//   void __trackway_unregister(struct trackway_module *module)
//       From a destructor: the module may be unloaded.
//   unsigned char *__trackway_flush(unsigned char *cursor)
//       preserve_most; once per object. Hands over the buffer, unless it has room left, and returns the cursor.
//   unsigned char *__trackway_flush_all(unsigned char *cursor)
//   unsigned char *__trackway_flush_all_avx(unsigned char *cursor)
//       The same, preserve_all, without and with AVX; on x86-64 only.
//   void __trackway_read_clock(uint64_t *clock)
//       preserve_all, the address in r10; on x86-64 only. Stores the time stamp counter; once per object.
//   uint32_t __trackway_join_window(void)
//       The thread goes on in the window that is open now, and leaves the one before. Gives its number; 0: none is
//       open.
//   void __trackway_open_window(void)
//   void __trackway_close_window(void)
//       For all threads and processes of the recording. Called where the program asks for it: the calling thread joins
//       or leaves the window at once.
//   void __trackway_mark(const char *text)
//       A mark in the trace.
//   void __trackway_window_enter_region(const struct trackway_region *region)
//   void __trackway_window_leave_region(const struct trackway_region *region)
//   uint32_t __trackway_window_region_depth(void)
//   void __trackway_window_leave_regions(uint32_t depth, const struct trackway_region *but)
//       As those without `window` below, in programs that record: windows may be open in regions only.
//   void __trackway_window_keep_depth(uint32_t *place)
//   void __trackway_window_leave_since(const uint32_t *place)
//       Before setjmp, and where it returns: leaves the regions that were entered in between.
//   void __trackway_came_back(void)
//       In landing pads and after what returns twice: records that were cut off there, and a wait for a buffer, become
//       a gap.
//
//   void __trackway_begin_counting(void)
//       Sees to it that the thread's state isn't TRACKWAY_NOT_BEGUN.
//   void __trackway_enter_region(struct trackway_region *region)
//   void __trackway_leave_region(const struct trackway_region *region)
//       The thread enters a region, or leaves it with all that were entered within and not left. Both change
//       __trackway_counting.
//   uint64_t __trackway_begin_call(struct trackway_callee *callee)
//   void __trackway_end_call(struct trackway_callee *callee, uint64_t start)
//       Around a call that is timed; `start` is what the first one gave.
//   uint32_t __trackway_region_depth(void)
//   void __trackway_leave_regions(uint32_t depth, const struct trackway_region *but)
//       Where longjmp or an exception arrives: leaves all regions but the first `depth`, and those up to the last one
//       that is `but` (none: null).
//   void __trackway_share_regions(uint64_t *place)
//       Keeps at the place in which regions the thread is, for code that is started elsewhere before they are left.
//   void __trackway_share_with_team(uint64_t *place)
//       The same, just before the thread forks a team of which it runs a part.
//   void __trackway_share_with_thread(uint64_t *place)
//       The same, for a thread that the program creates. 0: it begins outside of all regions.
//   uint32_t __trackway_join_regions(const uint64_t *place)
//       The thread enters them, unless it is there already. Gives the depth for __trackway_leave_regions.
//   uint32_t __trackway_begin_thread(const uint64_t *place)
//       The same, in a thread that begins.
//
//   __trackway_sigaction, __trackway_signal, __trackway_bsd_signal, __trackway_sysv_signal, __trackway_sigset
//       As the C library's functions without the prefix, which they call. Signal handlers record into streams of their
//       own, so that what they interrupt finds its buffer as it was, its cursor being in a register.
//
// Only for builds with the oracle (docs/format.md, section 4); `opk` is ordinal << 16 | part << 8 | kind:
//
//   void __trackway_oracle_access(uint64_t function, uint64_t opk, uint64_t address, uint64_t size)
//   void __trackway_oracle_masked(uint64_t function, uint64_t opk, uint64_t address, const uint8_t *mask_bits,
//                                 uint32_t lanes, uint32_t size, uint32_t stride, uint32_t packed)
//   void __trackway_oracle_gather(uint64_t function, uint64_t opk, const uint64_t *addresses,
//                                 const uint8_t *mask_bits, uint32_t lanes, uint32_t size)
//   void __trackway_oracle_wait(uint32_t begins)
//       Around a loop that waits: what it accesses counts when it is over, as it is recorded then.
//   void __trackway_oracle_value(const void *value, uint32_t lane_bytes)
//       Just before one of the calls above: its access has a value, of so many bytes in each lane.

// ---- Between the runtime and the recorder --------------------------------------------------------------------------

// The recorder creates one shared memory object, lets the program inherit it, and names its descriptor in the
// environment variable TRACKWAY_RING (for other collectors: TRACKWAY_CLIENT_RING, TRACKWAY_ALLOCATIONS_RING) as
// "FD:DEVICE:INODE:PID" (decimal; PID is the recorder's), so that a reused descriptor is noticed and /proc/PID/fd/FD
// serves where a parent closed the inherited one.
//
//   offset 0              struct trackway_ring
//   buffer_table_offset   struct trackway_buffer [buffer_count]
//   stream_table_offset   struct trackway_stream [stream_count]
//   stack_offset          uint64_t [stream_count]
//   data_offset           buffer_count × buffer_size bytes, zeroed by the recorder before each use
//
// A program that runs without a recorder makes such an object itself, of one page, and keeps it open as a descriptor
// that /proc/PID/fd shows as TRACKWAY_DORMANT_NAME. A recorder that comes later takes a lock on it (flock), makes it as
// long as a ring, writes what else is missing, adds 1 to `session` and opens a window. When it leaves, it closes that;
// later ones do the same again. The page is all 0 at first, but for `magic`, `abi`, `next_segment_id` and what threads
// add to that.
//
// Each recording thread owns a buffer, so there are many; memory is taken only for those that were used. How much may
// wait for the recorder is limited by full_limit instead.

#define TRACKWAY_RING_MAGIC 0x474E4952594B5254ull // "TRKYRING"
#define TRACKWAY_DORMANT_NAME "trackway-dormant"

enum trackway_ring_flags {
    TRACKWAY_DROP_WHEN_FULL = 1, // else wait
    TRACKWAY_DUMP_ORACLE = 2,    // the oracle writes its records, not only their hash
    TRACKWAY_KEEPS_NEWEST = 4,   // a flight recorder, which records all the time: the program switches no windows
    TRACKWAY_HAS_WINDOWS = 8,    // recording is to be switched on or off
};

#define TRACKWAY_HARDWARE_EVENTS 4
#define TRACKWAY_MARKS 256
#define TRACKWAY_CLOSINGS 32
#define TRACKWAY_REGION_GLOBS 252
#define TRACKWAY_REGION_HOLDERS 256
#define TRACKWAY_REGIONS_LOCKED 0x80000000u

// Arguments of perf_event_open.
struct trackway_hardware_event {
    uint64_t config;
    uint32_t type;
    uint32_t in_kernel; // 1: what happens in the kernel counts, too
};

struct trackway_ring {
    uint64_t magic;
    uint32_t abi;
    uint32_t flags;
    uint64_t total_size;
    uint32_t buffer_size; // multiple of 4096, at least 16384
    uint32_t buffer_count;
    uint64_t buffer_table_offset;
    uint64_t stream_table_offset;
    uint64_t data_offset;
    uint32_t stream_count;   // entries of the stream table; streams may be more
    uint32_t full_limit;     // while full_count is not below it, the ring is full
    uint32_t count_every;    // 0 or 1: all entries of regions are counted; else one in so many
    uint32_t count_cost;     // not 0: as many as counting may cost, in millionths of the region's time
    uint32_t hardware_count; // events that are counted around regions: so many of `hardware`
    uint32_t stack_frames;   // the most that are recorded with a call of an allocator
    struct trackway_hardware_event hardware[TRACKWAY_HARDWARE_EVENTS];
    // Each of these on a cache line of its own.
    _Alignas(64) uint32_t recorder_thread; // its id in the recorder's pid namespace; 0: none yet. See below
    _Alignas(64) uint32_t next_segment_id; // adding segment_count gives a module its ids; starts at 1, stays <= 2^24
    uint32_t next_stream;                  // fetch_add(1) gives a thread its stream number; starts at 0
    uint32_t pending_forks;                // forks whose child has not begun its stream yet
    _Alignas(64) uint32_t full_events;     // futex: the program adds 1 for each buffer that it hands over
    uint32_t wake_at;                      // not 0: the recorder sleeps, and wants to be woken at that full_events
    uint32_t full_count;                   // buffers that the recorder has not yet freed
    uint32_t buffers_used;                 // 1 + the greatest index of a buffer that was ever taken
    _Alignas(64) uint32_t free_events;     // futex: the recorder adds 1 when it frees buffers
    uint32_t free_waiters;                 // threads that wait on free_events
    uint64_t waited_ns;                    // how long threads have waited on it in all
    _Alignas(64) uint32_t stopped;         // 1: recording ended early; the program writes to private scratch memory
    uint32_t slow_us;                      // not 0: of latencies from here on the recorder is told, microseconds
    // What is recorded. To open a window: add 1 to `windows` and put what that gives into `window`, if that is 0. To
    // close it: note the time and put 0 there.
    _Alignas(64) uint32_t window; // the number of the open window, or 0
    uint32_t windows;             // how many have been opened
    uint32_t marks;               // fetch_add(1), modulo TRACKWAY_MARKS, gives the next entry of the table of marks
    uint32_t mark_offset;         // of that table: struct trackway_mark [TRACKWAY_MARKS]
    uint32_t session;             // how many recorders have come to a program that ran without one
    uint32_t regions_switch;      // 1: a recorder wants to have some regions alone, which open windows
    // Here begins a table of as many uint64_t as there are streams: an address in the stack on which each began, or 0.
    // If the offset is 0, there is no such table.
    uint32_t stack_offset;
    // When window n closed, in the ticks of the one that closed it, at n modulo TRACKWAY_CLOSINGS.
    _Alignas(64) uint64_t closed_ticks[TRACKWAY_CLOSINGS];
    // If it isn't empty, windows are open while a thread is in one of these regions: globs, each with a line feed.
    // How many of them are held by processes without an entry of `region_holders`. The highest bit is a lock, see
    // there.
    _Alignas(64) uint32_t regions_open;
    char only_regions[TRACKWAY_REGION_GLOBS];
    // Which process is in how many of them: its id in the upper half, the number in the lower one. 0: nobody's. To
    // enter one, add to it, wait while the lock is held, and open a window if none is open. To leave the process's last
    // one, take the lock, close the window if nobody else is in one, then make the entry 0. So a process that is killed
    // at any time there has an entry, which the recorder finds and makes 0.
    _Alignas(64) uint64_t region_holders[TRACKWAY_REGION_HOLDERS];
};

// What happened, for the trace's list of marks. The recorder is woken for each quarter of the table, and reads
// each entry before it is used again unless that comes too late.
struct trackway_mark {
    uint32_t ready; // 1 + what fetch_add gave, once the rest is written
    uint32_t kind;
    uint32_t window;
    uint32_t cause;
    uint32_t pid; // 0: the recorder's
    uint32_t tid;
    uint64_t ticks;
    uint32_t flags; // TRACKWAY_MONOTONIC, or 0
    char text[92];  // UTF-8; ends at the first 0, or with the array
};

enum trackway_mark_kind {
    TRACKWAY_OPENS = 1,
    TRACKWAY_CLOSES = 2,
    TRACKWAY_TEXT = 3,
    TRACKWAY_SNAPSHOT = 4, // a text too; what a flight recorder holds is to be written
};

enum trackway_mark_cause {
    TRACKWAY_BY_PROGRAM = 1,
    TRACKWAY_BY_CONTROL = 2, // `trackway control`
    TRACKWAY_BY_TIME = 3,
    TRACKWAY_BY_BURST = 4,
    TRACKWAY_BY_SIZE = 5,
    TRACKWAY_BY_REGION = 6, // of which the text is the name, where the window opens
    TRACKWAY_BY_ACCESSES = 7,
    TRACKWAY_BY_EVEN_BURST = 8, // at an even distance; TRACKWAY_BY_BURST: at a random time
};

// The recorder lives while `recorder_thread` is neither 0 nor has this bit (FUTEX_OWNER_DIED), which the kernel sets
// however the recorder ends.
#define TRACKWAY_RECORDER_DIED 0x40000000u

enum trackway_buffer_state {
    TRACKWAY_FREE = 0,    // recorder → program: zeroed
    TRACKWAY_OWNED = 1,   // a thread writes to it
    TRACKWAY_FULL = 2,    // program → recorder
    TRACKWAY_CLAIMED = 3, // its thread is gone; the one that set this hands it over
    TRACKWAY_TAKEN = 4,   // the recorder reads it
};

enum trackway_buffer_kind {
    TRACKWAY_MODULE = 2, // numbers as the chunk kinds of docs/format.md
    TRACKWAY_RECORDS = 3,
    TRACKWAY_ORACLE_RECORDS = 5,
    TRACKWAY_COUNTS = 10,
    TRACKWAY_DEFINITIONS = 11, // no chunk: what makes modules of machine code (collectors/dynamorio/definitions.h)
    TRACKWAY_ALLOCATIONS = 13,
    TRACKWAY_MAPPINGS = 15, // executable lines of /proc/PID/maps, of the buffer's `pid` at its `first_ticks`
};

enum trackway_buffer_flags {
    TRACKWAY_LAST = 2,      // the last buffer of this module, or of this thread
    TRACKWAY_ABANDONED = 4, // its thread ended in exec: `length` and `last_ticks` are unknown
    TRACKWAY_MONOTONIC = 8, // its ticks are nanoseconds of CLOCK_MONOTONIC, whatever the recorder's processor counts
    TRACKWAY_ENDING = 16,   // its thread called exit, or returned from main, and wrote to it until then
};

// The upper half of a buffer's flags: the session for which it was taken. Recorders of other sessions free it unread.
#define TRACKWAY_SESSION_SHIFT 16

struct trackway_buffer {
    uint32_t state; // FREE → OWNED → FULL by the program, FULL → TAKEN → FREE by the recorder
    uint32_t kind;
    uint32_t stream; // for TRACKWAY_MODULE: the module's first segment id
    uint32_t pid;    // 0: the owner has not yet described the buffer
    uint32_t tid;
    uint32_t flags;
    uint64_t sequence;    // in (stream, kind)
    uint64_t first_ticks; // the program's clock: the time stamp counter on x86-64, else CLOCK_MONOTONIC in nanoseconds
    uint64_t last_ticks;
    uint32_t length;         // bytes used, stated when the buffer is handed over
    uint32_t dropped_before; // scratch buffers that this stream lost just before this one
    uint32_t parent_pid;     // of a forked process, else 0
    uint32_t image;          // random; another one after exec, the same one after fork
};

// A COUNTS buffer is a node's as long as its thread lives: this, and after it the counters.
struct trackway_counts { // docs/format.md, section 6
    uint32_t node;
    uint32_t parent;
    uint32_t thread;
    uint32_t image;
    uint64_t entries;
    uint64_t counted_entries;
    uint64_t counted_ticks;
    uint64_t timed_entries;
    uint64_t timed_ticks;
    uint64_t entered_ticks;
    uint64_t flags; // the node's group in bits 8 to 15; if it is inherited, from that node and stream in 16 to 31 and
                    // 32 to 63
    char name[136];
    uint64_t measured_entries; // around which the ring's hardware events were counted
    uint64_t hardware_entries; // for which those stand
    uint64_t hardware[TRACKWAY_HARDWARE_EVENTS];
};

enum trackway_counts_flags {
    TRACKWAY_ENTRY_IS_COUNTED = 1,
    TRACKWAY_WHOLE_PROGRAM = 2,
    TRACKWAY_TICKS_ARE_NANOSECONDS = 4, // of CLOCK_MONOTONIC
    TRACKWAY_INHERITED = 8,             // another thread entered the region
};

// A MODULE buffer's bytes, concatenated in sequence, are the module payload of docs/format.md, section 1.3.

struct trackway_stream { // of stream number i; written through, so that it outlives a kill
    uint64_t oracle_count;
    uint64_t oracle_hash;
    uint64_t dropped; // scratch buffers, in all
    uint32_t pid;     // 0: this stream has not begun
    uint32_t image;
};

#endif
