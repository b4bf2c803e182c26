// What a process and its threads know of their recording.
#ifndef TRACKWAY_PROCESS_H
#define TRACKWAY_PROCESS_H

#include "ring.h"
#include "stack_walk.h"

// Bytes from a buffer's limit to its end: no event with all that belongs to it is longer.
#define EVENT_SLACK 1024

enum { KNOWN_STACKS = 256 };

// A stream, and where it is written to.
struct tracer {
    unsigned char *cursor;
    unsigned char *limit; // no event begins past it; none: there is no buffer
    unsigned char *begin;
    uint64_t last_ticks; // of the last event
    struct stream stream;
    uint16_t known[KNOWN_STACKS]; // by hash: the unit of a stack in this buffer, or 0
};

enum { MEMOS = 4 };

// All that a thread has.
struct own {
    struct tracer first;
    uint64_t epoch;              // in which memos and `is_alone` are true; 0: none
    bool is_counted;             // among the threads that record
    bool is_alone;               // no other thread of the process has recorded
    uintptr_t inside;            // the frame of the function that is recording; 0: none is
    struct stack_range stack;    // of the thread
    uintptr_t deleting;          // the block that a foreign operator delete is about to free
    uint64_t signals;            // the mask before a fork
    uint64_t fork_ticks;         // before a fork
    bool watches_end;            // the destructor of this thread will run
    struct tracer nested;        // for handlers that interrupt the first
    struct memo *last[2];        // the memos of the last allocation and release
    struct memo memos[2][MEMOS]; // by places of allocations and of releases
};

extern HIDDEN THREAD_LOCAL struct own __trackway_tracers;

// A page of its own, which the kernel clears in forked processes, however they were forked.
struct witness {
    // 0: this process does not record. Grows whenever what threads know may be wrong: another one begins to record, or
    // objects were unloaded.
    uint64_t epoch;
    uint64_t unused[511];
};
extern HIDDEN struct witness __trackway_witness;

// process.c
// Whether this process is recorded. One that was forked unnoticed records for itself from here on.
bool is_recorded(void);
// From here on, a thread's knowledge is of the present epoch. A handler that comes meanwhile may leave by longjmp.
void enter_epoch(struct own *own);
// Sees to it that the end of this thread is noticed.
void watch_this_thread(struct own *own);

// tracer.c
void forget_memos(struct own *own);
// Called in a forked process. It forgets what the thread had from the parent, and reports the fork, which came after
// `fork_ticks`.
void begin_child_tracers(uint64_t fork_ticks);
// Hands over what the ending thread still holds. Signals are blocked.
void end_tracers(struct own *own);

#endif
