// The ring, threads and their buffers, forked processes.
#include "client.h"
#include "image.h"
#include "kernel.h"
#include "ring_name.h"

#include "drmgr.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The longest record, and as much again for what may stand after the limit.
enum { MOST_RECORD_BYTES = ID_BYTES + MOST_ROOTS * ROOT_BYTES, SCRATCH_BYTES = 32 << 10 };
_Static_assert(MOST_RECORD_BYTES <= TRACKWAY_SLACK, "a record fits behind the limit");

struct process __trackway_process;
static reg_id_t tls_segment;
static uint tls_offset;
static int tls_field;
static uint32_t bases_note;

void __trackway_complain(const char *message) { dr_fprintf(STDERR, "trackway: %s\n", message); }

// DynamoRIO must know of what a client maps, so `__trackway_find_ring` won't do.
static struct trackway_ring *map_file(const char *path, const struct ring_name *name) {
    file_t file = dr_open_file(path, DR_FILE_READ | DR_FILE_WRITE_APPEND);
    struct stat status;
    if (file == INVALID_FILE)
        return NULL;
    void *memory = NULL;
    bool is_named = fstat(file, &status) == 0 && status.st_dev == name->device && status.st_ino == name->inode;
    size_t size = is_named ? (size_t)status.st_size : 0;
    if (is_named)
        memory = dr_map_file(file, &size, 0, NULL, DR_MEMPROT_READ | DR_MEMPROT_WRITE, 0);
    dr_close_file(file);
    return memory;
}

static struct trackway_ring *map_ring(const struct ring_name *name) {
    struct text own = {.length = 0}, path = path_at_recorder(name);
    append(&own, "/proc/self/fd/");
    append_number(&own, name->descriptor);
    struct trackway_ring *ring = map_file(own.bytes, name);
    return ring ? ring : map_file(path.bytes, name);
}

// The random bytes that the kernel draws at exec. The kernel gave them to the program's C library, but not to ours.
static const uint64_t *random_bytes(void) {
    uint64_t entry[2] = {0, 0};
    const uint64_t *found = NULL;
    long file = kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    while (file >= 0 && !found && kernel_call(SYS_read, file, (long)entry, sizeof entry, 0) == sizeof entry)
        found = entry[0] == AT_RANDOM ? (const uint64_t *)(uintptr_t)entry[1] : NULL;
    if (file >= 0)
        kernel_call(SYS_close, file, 0, 0, 0);
    return found;
}

// Other collectors in the process have the same identity, so all see one process.
static void identify(struct process *process) {
    process->pid = (uint32_t)kernel_call(SYS_getpid, 0, 0, 0, 0);
    process->image = identity_of(random_bytes());
}

bool attach_process(void) {
    struct ring_name name;
    const char *variable = getenv("TRACKWAY_CLIENT_RING");
    if (!variable || !read_name(variable, &name))
        return false;
    __trackway_process.ring = map_ring(&name);
    if (!__trackway_process.ring || !__trackway_speaks_our_version(__trackway_process.ring)) {
        __trackway_complain("the recorder's memory can't be mapped, or is of another version; this process runs "
                            "unrecorded");
        return false;
    }
    __trackway_use_mapping(__trackway_process.ring, __trackway_process.ring->buffer_count); // DynamoRIO keeps account
    identify(&__trackway_process);
    __trackway_abandon_former_image();
    if (!dr_raw_tls_calloc(&tls_segment, &tls_offset, SLOTS, 0))
        return false;
    tls_field = drmgr_register_tls_field();
    begin_definitions();
    bases_note = define_note(TRACKWAY_SEGMENT_BASES, NULL, NULL);
    return true;
}

bool has_windows(void) { return __trackway_process.ring->flags & TRACKWAY_HAS_WINDOWS; }

void end_process(void) {
    dr_raw_tls_cfree(tls_offset, SLOTS);
    drmgr_unregister_tls_field(tls_field);
}

struct thread_state *state_of(void *context) { return drmgr_get_tls_field(context, tls_field); }

opnd_t slot_operand(void *context, enum slot slot) {
    return dr_raw_tls_opnd(context, tls_segment, tls_offset + (uint)(slot * sizeof(uint64_t)));
}

// ---- Buffers -------------------------------------------------------------------------------------------------------

static void put_word(struct thread_state *state, const void *bytes, size_t length) {
    memcpy((void *)(uintptr_t)state->slots[SLOT_CURSOR], bytes, length);
    state->slots[SLOT_CURSOR] += length;
}

// What the decoder has to know of the thread's segments before their next use.
static void note_bases(struct thread_state *state) {
    uint32_t id = bases_note << 8;
    put_word(state, &id, sizeof id);
    put_word(state, state->segment_bases, sizeof state->segment_bases);
}

static void use_room(struct thread_state *state, struct room room) {
    state->slots[SLOT_CURSOR] = (uint64_t)(uintptr_t)room.begin;
    state->slots[SLOT_LIMIT] = (uint64_t)(uintptr_t)(room.end - TRACKWAY_CELL_BYTES - TRACKWAY_SLACK);
    state->slots[SLOT_REPEATED_CURSOR] = 0;
}

static uint32_t open_window(void) { return __atomic_load_n(&__trackway_process.ring->window, __ATOMIC_ACQUIRE); }

// Each thread has its own: a record that was begun there may move on to a buffer.
static struct room scratch_of(struct thread_state *state) {
    if (!state->scratch)
        state->scratch = dr_global_alloc(SCRATCH_BYTES);
    memset(state->scratch, 0, SCRATCH_BYTES);
    return (struct room){state->scratch, state->scratch + SCRATCH_BYTES};
}

static void take_buffer(struct thread_state *state) {
    struct room room = {NULL, NULL};
    state->window = open_window();
    if (state->window)
        room = __trackway_take(&state->stream.records, &state->stream);
    use_room(state, state->stream.records.buffer ? room : scratch_of(state));
    note_bases(state);
}

static void hand_over_records(struct thread_state *state, uint32_t flags) {
    hand_over_definitions();
    __trackway_hand_over(&state->stream.records, (unsigned char *)(uintptr_t)state->slots[SLOT_CURSOR], flags);
}

// The record that is being stored moves on to the next buffer: the recorder clears only what lies before the cursor.
void next_buffer(void) {
    struct thread_state *state = state_of(dr_get_current_drcontext());
    unsigned char begun[MOST_RECORD_BYTES], *record = (unsigned char *)(uintptr_t)state->slots[SLOT_CURSOR];
    memcpy(begun, record, sizeof begun);
    memset(record, 0, sizeof begun);
    hand_over_records(state, 0);
    take_buffer(state);
    memcpy((void *)(uintptr_t)state->slots[SLOT_CURSOR], begun, sizeof begun);
}

static void renew_buffer(struct thread_state *state) {
    hand_over_records(state, 0);
    take_buffer(state);
}

// Joins the window that was opened since the buffer was taken, or leaves the one that was closed.
static void follow_window(struct thread_state *state) {
    if (open_window() != state->window)
        renew_buffer(state);
}

void put_note(struct thread_state *state, uint32_t id, const uint64_t *roots, uint32_t count) {
    if (id == 0)
        return;
    if (state->slots[SLOT_CURSOR] >= state->slots[SLOT_LIMIT])
        renew_buffer(state);
    uint32_t word = id << 8;
    put_word(state, &word, sizeof word);
    put_word(state, roots, count * sizeof roots[0]);
}

uint32_t id_at_cursor(const struct thread_state *state) {
    uint32_t word;
    memcpy(&word, (void *)(uintptr_t)state->slots[SLOT_CURSOR], sizeof word);
    return word >> 8;
}

void end_cut_record(struct thread_state *state, uint32_t id, uint32_t roots) {
    uint32_t word = id << 8;
    memcpy((void *)(uintptr_t)state->slots[SLOT_CURSOR], &word, sizeof word);
    state->slots[SLOT_CURSOR] += ID_BYTES + roots * ROOT_BYTES;
}

// Bytes past the cursor are zero, as in a fresh buffer.
void forget_record(struct thread_state *state) {
    memset((void *)(uintptr_t)state->slots[SLOT_CURSOR], 0, MOST_RECORD_BYTES);
}

uint32_t repeated_id(const struct thread_state *state) {
    bool is_last = state->slots[SLOT_CURSOR] == state->slots[SLOT_REPEATED_CURSOR];
    return is_last ? (uint32_t)state->slots[SLOT_REPEATED_ID] : 0;
}

void take_back_repetition(struct thread_state *state, const struct plan *repeated, uint32_t count) {
    unsigned char *end = (unsigned char *)(uintptr_t)state->slots[SLOT_CURSOR];
    unsigned char *record = end - (ID_BYTES + repeated->roots * ROOT_BYTES);
    uint64_t roots[MOST_ROOTS], *again = &roots[repeated->roots - 1];
    memcpy(roots, record + ID_BYTES, repeated->roots * ROOT_BYTES);
    for (uint32_t i = 0; i < count; i++)
        roots[i] += (uint64_t)repeated->step[i] * *again;
    if (*again > 0) {
        (*again)--;
        memcpy(end - ROOT_BYTES, again, ROOT_BYTES);
        record = end;
    }
    state->slots[SLOT_CURSOR] = (uint64_t)(uintptr_t)record;
    state->slots[SLOT_REPEATED_CURSOR] = 0;
    memcpy(record + ID_BYTES, roots, count * ROOT_BYTES);
}

// The recorder doesn't read what the thread records from now on.
static void give_up_buffer(struct thread_state *state) {
    hand_over_records(state, 0);
    use_room(state, scratch_of(state));
}

// ---- Threads and processes -----------------------------------------------------------------------------------------

static void begin_stream(void *context, struct thread_state *state) {
    struct trackway_ring *ring = __trackway_process.ring;
    uint32_t number = __atomic_fetch_add(&ring->next_stream, 1, __ATOMIC_RELAXED);
    state->stream = (struct stream){.tid = (uint32_t)dr_get_thread_id(context)};
    state->stream.records = (struct lane){.kind = TRACKWAY_RECORDS, .stream = number, .owner = &state->process};
    if (number < ring->stream_count) {
        state->stream.slot = (struct trackway_stream *)((unsigned char *)ring + ring->stream_table_offset) + number;
        state->stream.slot->image = state->process.image;
        __atomic_store_n(&state->stream.slot->pid, state->process.pid, __ATOMIC_RELEASE);
    }
    read_segment_bases(state->segment_bases);
    take_buffer(state);
}

void begin_thread(void *context) {
    struct thread_state *state = dr_thread_alloc(context, sizeof *state);
    memset(state, 0, sizeof *state);
    state->slots = (uint64_t *)((unsigned char *)dr_get_dr_segment_base(tls_segment) + tls_offset);
    drmgr_set_tls_field(context, tls_field, state);
    state->process = __trackway_process;
    if (kernel_call(SYS_getpid, 0, 0, 0, 0) != __trackway_process.pid) {
        identify(&state->process);
        state->process.parent_pid = __trackway_process.pid;
    }
    begin_stream(context, state);
}

// When a process ends, its last thread ends all others.
static bool is_own_thread(void *context) {
    return (uint32_t)kernel_call(SYS_gettid, 0, 0, 0, 0) == (uint32_t)dr_get_thread_id(context);
}

void end_thread(void *context) {
    struct thread_state *state = state_of(context);
    if (is_own_thread(context) || __trackway_claim(&state->stream.records))
        hand_over_records(state, TRACKWAY_LAST);
    if (state->scratch)
        dr_global_free(state->scratch, SCRATCH_BYTES);
    dr_thread_free(context, state, sizeof *state);
}

void become_child(void *context) {
    __trackway_process.parent_pid = __trackway_process.pid;
    identify(&__trackway_process);
    forget_definitions();
    state_of(context)->process = __trackway_process;
    begin_stream(context, state_of(context));
    __atomic_fetch_sub(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELEASE);
}

static bool forks(void *context, int number) {
    uint64_t flags = 0;
    switch (number) {
#ifdef SYS_fork // newer architectures have clone alone
    case SYS_fork:
        return true;
#endif
    case SYS_clone:
        return !(dr_syscall_get_param(context, 0) & CLONE_VM);
    case SYS_clone3:
        dr_safe_read((void *)dr_syscall_get_param(context, 0), sizeof flags, &flags, NULL);
        return !(flags & CLONE_VM);
    default:
        return false;
    }
}

static bool replaces_program(int number) { return number == SYS_execve || number == SYS_execveat; }

// Parameters of the call that changes what memory may be used for, or what is mapped.
static void note_mapping(void *context, int number) {
    switch (number) {
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mmap:
        forget_memory((app_pc)dr_syscall_get_param(context, 0), dr_syscall_get_param(context, 1));
    }
}

void before_system_call(void *context, int number) {
    struct thread_state *state = state_of(context);
    note_mapping(context, number);
    follow_window(state);
    if (forks(context, number)) {
        hand_over_definitions();
        __atomic_fetch_add(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELAXED);
        state->stream.signals = 1; // a fork is under way
    }
    if (replaces_program(number))
        give_up_buffer(state);
}

void after_system_call(void *context, int number) {
    struct thread_state *state = state_of(context);
    int64_t result = (int64_t)dr_syscall_get_result(context);
    if (changes_segment_bases(number)) {
        read_segment_bases(state->segment_bases);
        if (state->slots[SLOT_CURSOR] >= state->slots[SLOT_LIMIT])
            renew_buffer(state);
        else
            note_bases(state);
    }
    if (replaces_program(number))
        take_buffer(state); // it failed
    follow_window(state);
    if (state->stream.signals && result < 0)
        __atomic_fetch_sub(&__trackway_process.ring->pending_forks, 1, __ATOMIC_RELEASE);
    state->stream.signals = 0;
}
