// Far blocks of memkind, which is loaded when the program starts. No header of it is needed.
#include "memkind.h"
#include "addresses.h"
#include "allocator.h"
#include "far.h"
#include "kernel.h"
#include "ring_name.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

enum { LEAST_BYTES = 16, STRIPES = 64, MOST_MESSAGE = 128 };

typedef struct memkind *kind_t;

static struct {
    void *(*malloc)(kind_t, size_t);
    void *(*calloc)(kind_t, size_t, size_t);
    void *(*realloc)(kind_t, void *, size_t);
    int (*posix_memalign)(kind_t, void **, size_t, size_t);
    void (*free)(kind_t, void *);
    size_t (*usable_size)(kind_t, void *);
    int (*create_pmem)(const char *, size_t, kind_t *);
    int (*check_available)(kind_t);
    void (*error_message)(int, char *, size_t);
} memkind;

static struct plan *waiting;
static kind_t kind;
static uint64_t live_bytes;
static int copy = -1; // of the file, for a child that is about to be forked

// ---- Being inside: memkind calls functions whose place ours have taken ---------------------------------------------

enum whereabouts { OUTSIDE, INSIDE, FORKING };

// Chosen by thread, so that threads seldom contend.
struct stripe {
    uint32_t inside;
    uint32_t unused[15];
};

static THREAD_LOCAL volatile enum whereabouts whereabouts;
static struct stripe stripes[STRIPES] __attribute__((aligned(64)));
static uint32_t forks; // 1: nobody may enter

static uint32_t *own_stripe(void) {
    uintptr_t thread = (uintptr_t)&whereabouts;
    return &stripes[(thread >> 12 ^ thread >> 20) % STRIPES].inside;
}

// False if this thread is inside already: in a function that memkind calls, in a handler of signals, or forking.
static bool enter(void) {
    uint32_t *inside = own_stripe();
    if (whereabouts != OUTSIDE)
        return false;
    for (;;) {
        __atomic_fetch_add(inside, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&forks, __ATOMIC_SEQ_CST))
            break;
        __atomic_fetch_sub(inside, 1, __ATOMIC_SEQ_CST);
        kernel_call(SYS_sched_yield, 0, 0, 0, 0);
    }
    whereabouts = INSIDE;
    __trackway_maps_far = true;
    return true;
}

static void leave(void) {
    __trackway_maps_far = false;
    whereabouts = OUTSIDE;
    __atomic_fetch_sub(own_stripe(), 1, __ATOMIC_SEQ_CST);
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

// Blocks have the alignment that the C library's have.
static void *take(size_t alignment, size_t size, bool zeroed) {
    size_t least = size < LEAST_BYTES ? LEAST_BYTES : size;
    if (zeroed)
        return memkind.calloc(kind, 1, least);
    if (alignment <= LEAST_BYTES)
        return memkind.malloc(kind, least);
    void *block;
    return memkind.posix_memalign(kind, &block, alignment, least) == 0 ? block : NULL;
}

// A program that calls memkind itself may have made it map memory elsewhere, whose blocks we wouldn't know again.
static bool is_usable(void *block, size_t alignment) {
    return is_far(block) && (alignment <= LEAST_BYTES || (uintptr_t)block % alignment == 0);
}

static void *allocate(size_t alignment, size_t size, bool zeroed) {
    int error = errno;
    if (!enter())
        return NULL;
    void *block = take(alignment, size, zeroed);
    if (block && !is_usable(block, alignment)) {
        memkind.free(kind, block);
        block = NULL;
    }
    size_t usable = block ? memkind.usable_size(kind, block) : 0;
    leave();
    if (block)
        count_placed(size, __atomic_add_fetch(&live_bytes, usable, __ATOMIC_RELAXED));
    else
        count_full(size);
    errno = error;
    return block;
}

// Only we use a kind in a folder, so its blocks stay in the range.
static void *reallocate(void *block, size_t size) {
    int error = errno;
    if (!enter())
        return NULL;
    size_t former = memkind.usable_size(kind, block);
    void *other = memkind.realloc(kind, block, size < LEAST_BYTES ? LEAST_BYTES : size);
    size_t usable = other ? memkind.usable_size(kind, other) : 0;
    leave();
    if (other)
        count_placed(size, __atomic_add_fetch(&live_bytes, usable - former, __ATOMIC_RELAXED));
    errno = error;
    return other;
}

// Blocks are never used again if they are freed by a handler that has interrupted memkind, or while the process forks.
static void release(void *block) {
    int error = errno;
    if (!enter())
        return;
    __atomic_fetch_sub(&live_bytes, memkind.usable_size(kind, block), __ATOMIC_RELAXED);
    memkind.free(kind, block);
    leave();
    errno = error;
}

static size_t usable_size(void *block) {
    bool entered = enter();
    size_t size = memkind.usable_size(kind, block);
    if (entered)
        leave();
    return size;
}

// ---- Forks: shared mappings would stay shared, so the child gets a copy --------------------------------------------

static void prepare_fork(void) {
    __atomic_store_n(&forks, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < STRIPES; i++)
        while (__atomic_load_n(&stripes[i].inside, __ATOMIC_SEQ_CST) > 0)
            kernel_call(SYS_sched_yield, 0, 0, 0, 0);
    enter_addresses();
    whereabouts = FORKING;
}

// If the file system knows no files without names, the file had one for a moment.
static int open_copy(const char *folder) {
    struct text name = {.length = 0};
    append(&name, folder);
    append(&name, "/far");
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file >= 0 ? file : open_nameless(name.bytes);
}

static void copy_for_child(void) {
    copy = open_copy(in_plan(__trackway_plan, __trackway_plan->place));
    if (copy < 0 || !copy_mappings(copy))
        give_up("far memory can't be copied for a forked process: there is no room in memkind's folder");
}

static void finish_fork(void) {
    if (copy >= 0)
        kernel_call(SYS_close, copy, 0, 0, 0);
    copy = -1;
    whereabouts = OUTSIDE;
    leave_addresses();
    __atomic_store_n(&forks, 0, __ATOMIC_SEQ_CST);
}

// Before memkind's own handler, whose lists may lie in what it has mapped.
static void begin_child(void) {
    if (copy >= 0 && !map_copy(copy))
        give_up("a forked process can't map its copy of far memory");
}

static const struct far_allocator in_folder = {
    .allocate = allocate,
    .reallocate = reallocate,
    .free = release,
    .size = usable_size,
    .prepare_fork = prepare_fork,
    .finish_fork = finish_fork,
    .copy_for_child = copy_for_child,
};

static const struct far_allocator of_kind = {
    .allocate = allocate,
    .free = release,
    .size = usable_size,
    .prepare_fork = prepare_fork,
    .finish_fork = finish_fork,
};

// ---- Loading -------------------------------------------------------------------------------------------------------

static _Noreturn void give_up_about(const char *what, const char *reason, const char *remedy) {
    struct text message = {.length = 0};
    append(&message, what);
    append(&message, reason ? reason : "");
    append(&message, remedy);
    give_up(message.bytes);
}

static void *find(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found)
        give_up_about("this memkind has no ", name, "; it has to be 1.14 or newer");
    return found;
}

static void *load(void) {
    void *library = dlopen("libmemkind.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        give_up_about("memkind can't be loaded: ", dlerror(), "; Debian's package libmemkind0 has it");
    memkind.malloc = find(library, "memkind_malloc");
    memkind.calloc = find(library, "memkind_calloc");
    memkind.realloc = find(library, "memkind_realloc");
    memkind.posix_memalign = find(library, "memkind_posix_memalign");
    memkind.free = find(library, "memkind_free");
    memkind.usable_size = find(library, "memkind_malloc_usable_size");
    memkind.create_pmem = find(library, "memkind_create_pmem");
    memkind.check_available = find(library, "memkind_check_available");
    memkind.error_message = find(library, "memkind_error_message");
    return library;
}

static void do_nothing(void) {}

// At its end a program still uses blocks: standard output's buffer, and those of threads that go on. memkind would
// unmap them all, so its functions for the end don't run.
static void keep_at_end(void *library) {
    struct link_map *map;
    uintptr_t functions = 0;
    size_t bytes = 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, (void *)&map) != 0)
        give_up("memkind's functions for the end of the program can't be found");
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        functions = entry->d_tag == DT_FINI_ARRAY ? map->l_addr + entry->d_un.d_ptr : functions;
        bytes = entry->d_tag == DT_FINI_ARRAYSZ ? entry->d_un.d_val : bytes;
    }
    uintptr_t page = functions / 4096 * 4096;
    long length = (long)(functions + bytes - page);
    if (bytes == 0)
        return;
    if (kernel_call(SYS_mprotect, (long)page, length, PROT_READ | PROT_WRITE, 0) < 0)
        give_up("memkind's functions for the end of the program can't be replaced");
    for (uintptr_t at = functions; at < functions + bytes; at += sizeof(uintptr_t))
        *(uintptr_t *)at = (uintptr_t)do_nothing;
    kernel_call(SYS_mprotect, (long)page, length, PROT_READ, 0);
}

static int find_kind(void *library, const struct plan *plan) {
    const char *name = in_plan(plan, plan->place);
    if (plan->kind == IN_MEMKIND_FOLDER)
        return memkind.create_pmem(name, plan->capacity, &kind);
    kind = *(kind_t *)find(library, name);
    return memkind.check_available(kind);
}

// A first block makes memkind do what it does once, and tells which file it maps.
static void begin_kind(void *library, const struct plan *plan) {
    bool is_in_folder = plan->kind == IN_MEMKIND_FOLDER;
    reserve_addresses(plan->capacity, find(library, is_in_folder ? "memkind_pmem_mmap" : "memkind_default_mmap"));
    enter();
    int error = find_kind(library, plan);
    if (error) {
        char message[MOST_MESSAGE];
        memkind.error_message(error, message, sizeof message);
        give_up_about(in_plan(plan, plan->place), ": ", message);
    }
    void *block = memkind.malloc(kind, LEAST_BYTES);
    if (!block || !is_far(block))
        give_up("memkind has no memory of that kind");
    memkind.free(kind, block);
    leave();
    // Programs that this one starts have files of their own.
    if (is_in_folder && kernel_call(SYS_fcntl, mapped_file(), F_SETFD, FD_CLOEXEC, 0) < 0)
        give_up("the file of memkind's kind can't be found");
}

void leave_to_memkind(struct plan *plan) { waiting = plan; }

void begin_waiting_memkind(void) {
    struct plan *plan = waiting;
    waiting = NULL;
    if (!plan)
        return;
    if (pthread_atfork(NULL, NULL, begin_child) != 0)
        give_up("no memory to watch for forks");
    void *library = load();
    keep_at_end(library);
    begin_kind(library, plan);
    __trackway_far = plan->kind == IN_MEMKIND_FOLDER ? &in_folder : &of_kind;
    __trackway_plan = plan;
}
