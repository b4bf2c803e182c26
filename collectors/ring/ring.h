// A client of the recorder's ring: takes buffers, and hands them over. What serves the ring in a process says which
// that is, and how to complain to the user.
#ifndef TRACKWAY_RING_H
#define TRACKWAY_RING_H

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

#define VISIBLE __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

// A sequence of buffers of one kind, of which at most one is owned at a time.
struct lane {
    struct trackway_buffer *buffer; // none: nothing was taken, or scratch memory serves instead
    uint64_t sequence;
    uint32_t kind;
    uint32_t stream;
    uint32_t dropped; // scratch buffers since the last buffer
    uint32_t window;  // that was open when the buffer was taken
    bool must_wait;   // whatever the ring's flags say
    // The owning process; none: this one. A child of vfork shares its parent's memory.
    const struct process *owner;
    unsigned char *low; // where its buffer is mapped once more, below all others; else none
};

struct room {
    unsigned char *begin;
    unsigned char *end;
};

struct place {
    uintptr_t code;
    uintptr_t stack;
};

// The value of the next access that is reported to the oracle.
struct oracle_value {
    const uint8_t *bytes; // none: it comes without a value
    uint32_t lane_bytes;  // of each lane, or of the whole
};

// What a thread records in order. Code that a signal handler interrupts goes on with its stream when the handler
// returns; meanwhile the handler has another one.
struct stream {
    bool begun;
    bool dumps_oracle;
    bool busy;     // a flush is under way
    bool outside;  // of windows: its records go to scratch memory
    uint32_t mark; // of the frame, to see whether it still stands
    uint32_t tid;
    uint32_t session;             // in which it has begun
    struct trackway_stream *slot; // none if the stream table is too short
    struct lane records;
    struct lane oracle;
    uint64_t next_node; // sequence of the next buffer of counts
    struct oracle_value oracle_value;
    struct trackway_stream held;       // while a wait goes on, `slot` is this, and
    struct trackway_stream *published; // this the slot that others see; else none
    uint64_t signals;                  // the mask to wait with
    struct room oracle_room;           // what is left of the oracle's buffer
    struct trackway_thread rest;       // cursor and limit while it is not the current one
    const struct handler_frame *frame; // of the handler that interrupted it, if one did
    struct place place;                // where it did
    // Set where its code may go on with the position of another stream in a register: its buffers are mapped below
    // this, as below all windows. Else none.
    const unsigned char *below;
    uint32_t parked;     // its handler gave the thread to other code, and its frame is gone: when; else 0
    struct stream *next; // a further one of the thread
};

// Enough for 2^19 buffers, where 2^16 + 4096 are the most.
#define TRACKWAY_WINDOWS 16

struct process {
    struct trackway_ring *ring;               // none: this process was never recorded
    struct trackway_ring *dormant;            // its first page, where a recorder may come later; else none
    uint32_t session;                         // the last one that this process has noticed
    unsigned char *windows[TRACKWAY_WINDOWS]; // the buffers, as far as they are mapped
    uint32_t *witness;                        // 0 in a process that was forked without our knowledge
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t image;
};

extern struct process __trackway_process;

// Tells the user in a line.
void __trackway_complain(const char *message);

// find_ring.c
// Maps the first page of the ring that the value of an environment variable names. None if it names none that can be
// mapped.
struct trackway_ring *__trackway_find_ring(const char *variable);
bool __trackway_speaks_our_version(const struct trackway_ring *ring);

// windows.c
// Maps all of the ring that every process needs, given its first page; that isn't mapped any more then. None if there
// is no address space.
struct trackway_ring *__trackway_map_ring(struct trackway_ring *first_page);
// Uses a mapping that already has so many buffers, past the tables.
void __trackway_use_mapping(struct trackway_ring *ring, uint32_t buffers);
// A buffer's bytes; none if there is no address space for them.
unsigned char *__trackway_data(uint32_t index);
unsigned char *__trackway_window(unsigned window);
size_t __trackway_window_length(unsigned window);
// Maps a buffer a second time, below all windows and that address; none if there is no place. Signals are blocked.
unsigned char *__trackway_map_low(uint32_t index, const unsigned char *below);
void __trackway_unmap_low(unsigned char *place);
// Called in a forked process: the places were its parent's.
void __trackway_forget_low(void);
// The room where buffers are mapped low; none before the first one.
struct room __trackway_low_room(void);

// buffer.c
#if defined(__x86_64__)
#define TICKS_ARE_NANOSECONDS false
#else
#define TICKS_ARE_NANOSECONDS true // of CLOCK_MONOTONIC, whatever the recorder's processor counts
#endif
uint64_t __trackway_now_ticks(void);
// Whether a recorder lives and wants records.
bool __trackway_takes_records(const struct trackway_ring *ring);
// Ends its sleep.
void __trackway_wake_recorder(struct trackway_ring *ring);
// Room of a fresh buffer, or of scratch memory while the recorder takes nothing.
struct room __trackway_take(struct lane *lane, struct stream *stream);
// Whether the position is in the lane's buffer, or at its end.
bool __trackway_holds(const struct lane *lane, const unsigned char *cursor);
// Gives the lane's buffer, if it owns one, to the recorder. `end` is after its last byte; none if that isn't known.
void __trackway_hand_over(struct lane *lane, const unsigned char *end, uint32_t flags);
void __trackway_abandon_former_image(void);
// Claims the buffer of a lane whose thread may be gone: the recorder may claim it, too. False: the lane has no buffer,
// or the recorder hands it over.
bool __trackway_claim(struct lane *lane);
// The first of so many segment ids; 0 if there aren't as many left.
uint32_t __trackway_take_ids(struct trackway_ring *ring, uint32_t count);
struct room __trackway_scratch(void);

#endif
