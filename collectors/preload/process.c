// The ring, ends of threads, forked processes.
#include "process.h"
#include "allocator.h"
#include "image.h"
#include "kernel.h"
#include "ring_name.h"
#include "stack.h"
#include "tracer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define VARIABLE "TRACKWAY_ALLOCATIONS_RING="
// Destructors of other thread-specific data may allocate, too. So ours lets them go first, several times.
#define LAST_ROUND 3

struct process __trackway_process;
struct witness __trackway_witness __attribute__((aligned(4096)));
static uint32_t recording_threads;
static pthread_key_t end_of_thread;
static bool has_key;

void __trackway_complain(const char *message) {
    struct text line = {.length = 0};
    append(&line, "trackway: ");
    append(&line, message);
    append(&line, "\n");
    kernel_call(SYS_write, STDERR_FILENO, (long)line.bytes, (long)line.length, 0);
}

// ---- Finding the ring ----------------------------------------------------------------------------------------------

// The value of our variable, from the environment as the kernel keeps it: the C library may not know its own yet.
struct search {
    struct text value;
    size_t matched; // characters of VARIABLE; or too many, in another variable
};

static bool search_in(struct search *search, const char *part, long length) {
    for (long i = 0; i < length; i++) {
        bool found = search->matched == sizeof VARIABLE - 1;
        char letter[2] = {part[i], 0};
        if (part[i] == 0 && found)
            return true;
        if (part[i] == 0)
            search->matched = 0;
        else if (found)
            append(&search->value, letter);
        else if (search->matched < sizeof VARIABLE && part[i] == VARIABLE[search->matched])
            search->matched++;
        else
            search->matched = sizeof VARIABLE;
    }
    return false;
}

static bool read_variable(struct search *search) {
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return false;
    char part[512];
    long length;
    bool found = false;
    while (!found && (length = kernel_call(SYS_read, file, (long)part, sizeof part, 0)) > 0)
        found = search_in(search, part, length);
    kernel_call(SYS_close, file, 0, 0, 0);
    return found;
}

static bool speaks_our_version(const struct trackway_ring *ring) {
    bool speaks = __trackway_speaks_our_version(ring);
    if (!speaks)
        __trackway_complain("preload.so is of another version than the recorder; the allocations of this process are "
                            "not recorded: build both with `make`");
    return speaks;
}

// Looks for the recorder. Nothing of the C library is needed, so that it may be the first that ever happens.
void attach(void) {
    struct search search = {.matched = 0};
    struct trackway_ring *ring = read_variable(&search) ? __trackway_find_ring(search.value.bytes) : NULL;
    if (!ring || !speaks_our_version(ring))
        return;
    ring = __trackway_map_ring(ring);
    if (!ring) {
        __trackway_complain("cannot map the recorder's memory (is `ulimit -v` set?); the allocations of this process "
                            "are not recorded");
        return;
    }
    __trackway_frames = ring->stack_frames < MOST_FRAMES ? ring->stack_frames : MOST_FRAMES;
    __trackway_process.pid = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0);
    __trackway_process.image = image_identity();
    __trackway_process.ring = ring;
    __trackway_abandon_former_image();
    // Old kernels can't; then only forks are noticed of which the C library tells.
    kernel_call(SYS_madvise, (long)&__trackway_witness, sizeof __trackway_witness, MADV_WIPEONFORK, 0);
    __trackway_witness.epoch = 1;
}

// ---- Threads and processes -----------------------------------------------------------------------------------------

void watch_this_thread(struct own *own) {
    if (has_key && !own->watches_end)
        own->watches_end = pthread_setspecific(end_of_thread, (void *)1) == 0;
}

static void end_thread(void *round) {
    if ((uintptr_t)round < LAST_ROUND && pthread_setspecific(end_of_thread, (char *)round + 1) == 0)
        return;
    uint64_t signals = block_signals();
    if (is_recorded())
        end_tracers(&__trackway_tracers);
    restore_signals(signals);
}

static void become_child(void) {
    struct own *own = &__trackway_tracers;
    __trackway_process.parent_pid = __trackway_process.pid;
    __trackway_process.pid = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0);
    recording_threads = 0;
    __trackway_witness.epoch = 1;
    begin_child_tracers(own->fork_ticks ? own->fork_ticks : own->first.last_ticks);
    own->fork_ticks = 0;
}

bool is_recorded(void) {
    if (__trackway_witness.epoch == 0 && __trackway_process.ring)
        become_child();
    return __trackway_process.ring != NULL;
}

// All threads of the process look again at what they know.
static void begin_epoch(void) {
    if (is_recorded())
        __atomic_fetch_add(&__trackway_witness.epoch, 1, __ATOMIC_SEQ_CST);
}

void forget_addresses(void) { begin_epoch(); }

// Two threads come to one another's blocks only by what the later one did after this.
static void count_thread(struct own *own) {
    if (__atomic_fetch_add(&recording_threads, 1, __ATOMIC_SEQ_CST) > 0)
        begin_epoch();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own->is_counted = true; // a thread that is counted twice is only slower
}

void enter_epoch(struct own *own) {
    if (!own->is_counted)
        count_thread(own);
    uint64_t epoch = __atomic_load_n(&__trackway_witness.epoch, __ATOMIC_SEQ_CST);
    own->is_alone = __atomic_load_n(&recording_threads, __ATOMIC_SEQ_CST) == 1;
    forget_memos(own);
    own->epoch = epoch;
}

// Should the parent end before the child runs, the recorder still knows that there is one. No handler must run in the
// child before it has tracers of its own.
static void prepare_fork(void) {
    if (!is_recorded())
        return;
    __trackway_tracers.signals = block_signals();
    __trackway_tracers.fork_ticks = read_ticks();
    __atomic_fetch_add(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELAXED);
}

static void finish_fork(void) {
    if (!__trackway_process.ring)
        return;
    __trackway_tracers.fork_ticks = 0;
    restore_signals(__trackway_tracers.signals);
}

// If the kernel clears no page, a changed process id shows the fork.
static void begin_child(void) {
    if (!__trackway_process.ring)
        return;
    if ((uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0) != __trackway_process.pid)
        become_child();
    __atomic_fetch_sub(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELEASE);
    restore_signals(__trackway_tracers.signals);
}

__attribute__((constructor)) static void watch_process(void) {
    next_allocator(); // which attaches, unless somebody allocated before
    if (!__trackway_process.ring)
        return;
    if (!takes_malloc())
        __trackway_complain("the executable brings its own malloc, which nothing can stand in front of: of its "
                            "allocations only mappings are recorded");
    // Without a key the recorder itself finds the buffers of ended threads, only later.
    has_key = pthread_key_create(&end_of_thread, end_thread) == 0;
    if (pthread_atfork(prepare_fork, finish_fork, begin_child) != 0)
        __trackway_complain("no memory to watch for forks; those of which the kernel tells are followed");
}
