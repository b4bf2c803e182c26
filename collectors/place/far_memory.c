// The memory of far blocks, in this process and in those that it forks.
#include "allocator.h"
#include "far.h"
#include "kernel.h"
#include "memkind.h"
#include "ring_name.h"
#include "sites.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

enum { BIND = 2 /* MPOL_BIND */, NODES_IN_WORD = 64 };

static struct plan *plan;
static int copy = -1; // of the file, for a child that is about to be forked

static void *map(int file, void *where) {
    int flags = MAP_NORESERVE | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | (where ? MAP_FIXED : 0);
    return __trackway_allocator.mmap(where, plan->capacity, PROT_READ | PROT_WRITE, flags, file, 0);
}

// mbind has six arguments; the last one is no flags.
static long bind(long memory, long length, long mode, const uint64_t *nodes, long most_nodes) {
    register long r10 __asm__("r10") = (long)nodes;
    register long r8 __asm__("r8") = most_nodes;
    register long r9 __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(SYS_mbind), "D"(memory), "S"(length), "d"(mode), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void bind_to_nodes(void *memory) {
    uint64_t nodes[WORDS_OF_NODES];
    __builtin_memcpy(nodes, in_plan(plan, plan->place), sizeof nodes);
    long result = bind((long)memory, (long)plan->capacity, BIND, nodes, NODES_IN_WORD * WORDS_OF_NODES + 1);
    if (result < 0)
        give_up("memory can't be bound to those NUMA nodes: a container may forbid mbind, or its cpuset the nodes");
}

int open_nameless(const char *path) {
    static uint32_t count;
    struct text name = {.length = 0};
    append(&name, path);
    append(&name, ".");
    append_number(&name, (uint64_t)kernel_call(SYS_getpid, 0, 0, 0, 0));
    append(&name, ".");
    append_number(&name, __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)name.bytes, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0)
        kernel_call(SYS_unlinkat, AT_FDCWD, (long)name.bytes, 0, 0);
    return file;
}

// The program itself has the file that was named; other programs that it starts have files of their own.
static int open_file(void) {
    bool is_first = kernel_call(SYS_getppid, 0, 0, 0, 0) == plan->first_parent;
    const char *path = in_plan(plan, plan->place);
    int file =
        is_first ? (int)kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0) : open_nameless(path);
    // Removes what a former program of this process left there.
    if (file < 0 || kernel_call(SYS_ftruncate, file, 0, 0, 0) < 0 ||
        kernel_call(SYS_ftruncate, file, (long)plan->capacity, 0, 0) < 0)
        give_up(
            "the file for far memory can't be opened at that size: --far-file and --far-size say where and how large");
    return file;
}

void begin_far(struct plan *of) {
    plan = of;
    int file = plan->kind == IN_FILE ? open_file() : -1;
    void *memory = map(file, NULL);
    if (memory == MAP_FAILED)
        give_up("far memory of that size can't be mapped: --far-size says how large it is");
    if (file >= 0)
        kernel_call(SYS_close, file, 0, 0, 0);
    else
        bind_to_nodes(memory);
    __trackway_far_begin = (uintptr_t)memory;
    __trackway_far_size = plan->capacity;
    __trackway_far = &__trackway_size_classes;
}

// ---- Forks: a shared mapping stays shared, so the child gets a copy ------------------------------------------------

bool write_all(int file, const unsigned char *bytes, size_t length, uint64_t offset) {
    for (size_t done = 0; done < length;) {
        long written =
            kernel_call(SYS_pwrite64, file, (long)(bytes + done), (long)(length - done), (long)(offset + done));
        if (written <= 0 && written != -EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

static void copy_file(void) {
    copy = open_nameless(in_plan(plan, plan->place));
    if (copy < 0 || kernel_call(SYS_ftruncate, copy, (long)plan->capacity, 0, 0) < 0 ||
        !write_all(copy, (const unsigned char *)__trackway_far_begin, __trackway_far_top, 0))
        give_up("far memory can't be copied for a forked process: there is no room beside the file");
}

// A child has no other threads that could leave what they have entered. A thread inside of an allocator may yet look
// up call sites.
static void prepare_fork(void) {
    if (!__trackway_plan)
        return;
    __trackway_far->prepare_fork();
    enter_sites();
    if (__trackway_plan->kind == IN_FILE)
        copy_file();
    else if (__trackway_far->copy_for_child)
        __trackway_far->copy_for_child();
}

static void finish_fork(void) {
    if (!__trackway_plan)
        return;
    if (copy >= 0)
        kernel_call(SYS_close, copy, 0, 0, 0);
    copy = -1;
    leave_sites();
    __trackway_far->finish_fork();
}

static void begin_child(void) {
    if (__trackway_plan && copy >= 0 && map(copy, (void *)__trackway_far_begin) == MAP_FAILED)
        give_up("a forked process can't map its copy of far memory");
    finish_fork();
}

// Other handlers may allocate: those that were registered before ours run outside of it.
__attribute__((constructor)) static void begin_program(void) {
    next_allocator(); // the program may not have allocated yet
    begin_waiting_memkind();
    if (__trackway_plan && pthread_atfork(prepare_fork, finish_fork, begin_child) != 0)
        give_up("no memory to watch for forks");
}
