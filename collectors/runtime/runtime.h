// What the parts of the runtime share. Only names that start with `__trackway_` are visible outside.
//
// A program and its shared objects may each hold a copy of the runtime; the dynamic linker lets one copy serve all.
// The hidden names below belong to a copy, so whatever is reached from several objects goes through a visible name.
#ifndef TRACKWAY_RUNTIME_H
#define TRACKWAY_RUNTIME_H

#include "ring.h"

struct thread {
    struct stream first;
    struct stream *current; // none: the first
    uint64_t signals;       // the mask before a fork
    bool is_counted_fork;   // the recorder was told of it
    uint32_t look_at;       // when so many streams wait for handlers, some may wait for ever
    uint32_t parkings;      // how often a stream was parked
    bool watches_end;       // the destructor of this thread will run
};

// Lies on the stack of each handler that runs.
struct handler_frame {
    uint32_t mark;
    struct stream *interrupted;
    struct trackway_thread room; // of the interrupted stream
    struct place place;          // where it was interrupted
};

#define TRACKWAY_NO_SESSION UINT32_MAX

extern THREAD_LOCAL struct thread __trackway_own;
extern VISIBLE THREAD_LOCAL struct trackway_thread __trackway_thread;
extern HIDDEN const struct trackway_thread __trackway_no_room;
extern VISIBLE THREAD_LOCAL uint32_t __trackway_recorded_window;
extern VISIBLE THREAD_LOCAL struct trackway_counting __trackway_counting;

// attach.c
// Begins what the environment asks for, once.
void __trackway_attach(void);
// Whether this process is recorded, or may be at any time.
VISIBLE bool __trackway_may_be_recorded(void);
// Stops recording this process: what it does from now on stays private. Its parent is not affected.
void __trackway_detach(void);

// modules.c
// False if another thread changes the list of modules. Signals are blocked until it is unlocked.
bool __trackway_try_to_lock_modules(void);
void __trackway_unlock_modules(void);
// The id, shifted left by 8, of the records that say in which regions a thread is; 0: no module has such a one.
uint32_t __trackway_region_record(void);
// Makes all modules of the locked list known to a recorder. False if it does not take them.
bool __trackway_send_modules(uint32_t session);

// sessions.c
// Where a recorder that comes later finds this process; none if that can't be.
struct trackway_ring *__trackway_make_dormant_page(void);
// Whether there is a recorder for what this process records now. Signals are blocked.
bool __trackway_in_session(void);

// stream.c
void __trackway_watch_threads(void);
// Hands over the buffer of records and returns the cursor of a fresh one.
VISIBLE unsigned char *__trackway_next_buffer(unsigned char *cursor);
// This thread's stream, begun; none if the process is not recorded.
VISIBLE struct stream *__trackway_this_stream(void);
// Makes a forked process of which the C library didn't tell begin its own streams.
void __trackway_notice_fork(void);
// The thread's present stream ends its buffer where the thread's cursor is, and takes another one when it records
// again.
void __trackway_leave_buffer(void);
// Replaces the oracle's buffer of this thread.
VISIBLE void __trackway_oracle_flush(struct stream *stream);

// Sees to it that the end of this thread is noticed, though destructors that count or record may come late.
void __trackway_watch_this_thread(void);

// recording_window.c
VISIBLE uint32_t __trackway_join_window(void);
VISIBLE void __trackway_open_window(void);
VISIBLE void __trackway_close_window(void);
VISIBLE void __trackway_mark(const char *text);
VISIBLE void __trackway_snapshot(void);
// The page with the words of windows that modules look at; none if nobody ever records this process.
struct trackway_ring *__trackway_first_page(void);
// A window is open from here on, until as many regions have ended as began so. Gives the recorder's session, or
// TRACKWAY_NO_SESSION if nobody records.
uint32_t __trackway_begin_window_of(const char *region);
// Does nothing in a child of that process, and in a later session.
void __trackway_end_window_of(uint32_t pid, uint32_t session);
// Called when the process begins: it isn't in the regions any more in which it was until exec.
void __trackway_leave_former_regions(void);
// The program tells how long something took that should be fast.
VISIBLE void __trackway_slow(uint64_t ns);
// The number of the window that is open now, or 0. The thread is in that one from now on.
uint32_t __trackway_follow_window(void);

// region_holders.c
// Which processes are in regions that keep a window open (abi.h). Signals are blocked. `close` is called where nobody
// else is in one.
void __trackway_hold_regions(struct trackway_ring *ring);
void __trackway_let_go_of_region(struct trackway_ring *ring, void (*close)(struct trackway_ring *));
// The same for all that this process held before exec.
void __trackway_let_go_of_former_image(struct trackway_ring *ring, void (*close)(struct trackway_ring *));

// window_regions.c
// Writes into the thread's fresh buffer in which regions it is.
void __trackway_state_regions(void);
void __trackway_end_thread_regions(void);
VISIBLE void __trackway_window_enter_region(const struct trackway_region *region);
VISIBLE void __trackway_window_leave_region(const struct trackway_region *region);
VISIBLE void __trackway_window_enter_scope(const struct trackway_region *region);
VISIBLE void __trackway_window_leave_scope(const struct trackway_region *region);
VISIBLE uint32_t __trackway_window_region_depth(void);
VISIBLE void __trackway_window_keep_depth(uint32_t *place);
VISIBLE void __trackway_window_leave_since(const uint32_t *place);
VISIBLE void __trackway_window_leave_regions(uint32_t depth, const struct trackway_region *but);

// nodes.c
bool __trackway_is_same_name(const char *one, const char *other);
// Gives the module's counters their place. False if there is no room for them.
bool __trackway_place_counters(struct trackway_module *module);

// count.c
// Hands over what the ending thread counted.
void __trackway_end_counting(void);
// Called in a forked process: its thread counts for itself.
void __trackway_count_as_child(void);

// context.c
// Where the program goes on with a handler's context; nowhere without one.
struct place __trackway_place_of(const void *context);
// Whether what stands there is on the alternate stack of the thread, as the kernel gave it to a handler.
bool __trackway_is_on_alternate_stack(const void *context, const void *there);
// Also true if that is not known.
bool __trackway_same_function(uintptr_t one, uintptr_t other);

// handlers.c
// Around each run of a signal handler. `context` is what the kernel gave it.
VISIBLE void __trackway_enter_handler(struct handler_frame *frame, const void *context);
VISIBLE void __trackway_leave_handler(struct handler_frame *frame, const void *context);
// Hands over what the ending thread still holds. Signals are blocked.
void __trackway_end_streams(struct thread *thread);
// The code that comes next may not be where the thread's last record came from.
VISIBLE void __trackway_came_back(void);
// Ends the guarded stream if its code goes on with the position of another one, which ends, too.
void __trackway_leave_stale(struct stream *stream, const unsigned char *cursor);
// Called in a forked process: no handler's stream is in use.
void __trackway_forget_handlers(void);

#endif
