// What the parts of the runtime share. Only names that start with `__trackway_` are visible outside.
//
// A program and its shared objects may each hold a copy of the runtime; the dynamic linker lets one copy serve all.
// The hidden names below belong to a copy, so whatever is reached from several objects goes through a visible name.
#ifndef TRACKWAY_RUNTIME_H
#define TRACKWAY_RUNTIME_H

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

#define VISIBLE __attribute__((visibility("default")))
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

// A sequence of buffers of one kind, of which at most one is owned at a time.
struct lane {
    struct trackway_buffer *buffer; // none: nothing was taken, or scratch memory serves instead
    uint64_t sequence;
    uint32_t kind;
    uint32_t stream;
    uint32_t dropped; // scratch buffers since the last buffer
    bool must_wait;   // whatever the ring's flags say
};

struct room {
    unsigned char *begin;
    unsigned char *end;
};

// A thread's stream.
struct stream {
    bool begun;
    bool dumps_oracle;
    bool busy;        // a flush is under way
    bool watches_end; // the destructor of this thread will run
    uint32_t tid;
    struct trackway_stream *slot; // none if the stream table is too short
    struct lane records;
    struct lane oracle;
    struct room oracle_room; // what is left of the oracle's buffer
};

struct process {
    struct trackway_ring *ring; // none: this process is not recorded
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t image;
};

extern struct process __trackway_process;

// attach.c
void __trackway_complain(const char *message);

// buffer.c
// Room of a fresh buffer, or of scratch memory while the recorder takes nothing.
struct room __trackway_take(struct lane *lane, struct stream *stream);
// Gives the lane's buffer, if it owns one, to the recorder. `end` is behind its last byte.
void __trackway_hand_over(struct lane *lane, const unsigned char *end, uint32_t flags);
void __trackway_abandon_former_image(void);
struct room __trackway_scratch(void);

// stream.c
void __trackway_watch_threads(void);
// This thread's stream, begun; none if the process is not recorded.
VISIBLE struct stream *__trackway_this_stream(void);
// Replaces the oracle's buffer of this thread.
VISIBLE void __trackway_oracle_flush(struct stream *stream);

#endif
