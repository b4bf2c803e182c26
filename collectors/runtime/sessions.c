// Recorders that come to a program that runs, and leave it again. Until the first one comes, there is only a page where
// it finds the program; what that records is then a session.
#include "kernel.h"
#include "ring_name.h"
#include "runtime.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE 4096

// Programs expect the lowest descriptors to be theirs. Of some that limit is lower.
static const long places[] = {512, 200, 20};

static struct trackway_ring *mapped(long descriptor) {
    long page = kernel_call_of_6(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return kernel_call_failed(page) ? NULL : (struct trackway_ring *)page;
}

static bool has_our_name(long descriptor) {
    static const char name[] = "/memfd:" TRACKWAY_DORMANT_NAME " (deleted)";
    struct text path = {.length = 0};
    append(&path, "/proc/self/fd/");
    append_number(&path, (uint64_t)descriptor);
    char found[sizeof name];
    long length = kernel_call(SYS_readlinkat, AT_FDCWD, (long)path.bytes, (long)found, sizeof found);
    return length == sizeof name - 1 && __builtin_memcmp(found, name, sizeof name - 1) == 0;
}

// A shared object may hold a runtime of its own: the page of the first one serves for both.
static struct trackway_ring *present_page(void) {
    struct trackway_ring *page = NULL;
    for (unsigned i = 0; i < sizeof places / sizeof *places && !page; i++)
        page = has_our_name(places[i]) ? mapped(places[i]) : NULL;
    return page && __trackway_speaks_our_version(page) ? page : NULL;
}

static bool may_have_files_of(uint64_t bytes) {
    struct rlimit64 limit = {0, 0};
    kernel_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit);
    return limit.rlim_cur >= bytes;
}

static long out_of_the_way(long descriptor) {
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        long high = kernel_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, places[i], 0);
        if (high >= 0)
            return high;
    }
    return -1;
}

static long make_file(void) {
    long low = kernel_call(SYS_memfd_create, (long)TRACKWAY_DORMANT_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0);
    if (low < 0)
        return low;
    bool is_made = kernel_call(SYS_fchmod, low, 0600, 0, 0) == 0 && kernel_call(SYS_ftruncate, low, PAGE, 0, 0) == 0;
    long high = is_made ? out_of_the_way(low) : -1;
    kernel_call(SYS_close, low, 0, 0, 0);
    return high;
}

struct trackway_ring *__trackway_make_dormant_page(void) {
    struct trackway_ring *present = present_page();
    if (present || !may_have_files_of(PAGE))
        return present;
    long file = make_file();
    if (file < 0)
        return NULL;
    struct trackway_ring *page = mapped(file);
    if (!page) {
        kernel_call(SYS_close, file, 0, 0, 0);
        return NULL;
    }
    page->abi = TRACKWAY_ABI;
    page->next_segment_id = 1;
    page->magic = TRACKWAY_RING_MAGIC;
    return page;
}

// The first page stays where it is, since modules point there.
static struct trackway_ring *map_session(void) {
    long again = kernel_call(SYS_mremap, (long)__trackway_process.dormant, 0, PAGE, MREMAP_MAYMOVE);
    return kernel_call_failed(again) ? NULL : __trackway_map_ring((struct trackway_ring *)again);
}

// What a thread records is readable only when the recorder has all modules.
static bool begin_session(uint32_t session) {
    if (!__trackway_process.ring)
        __trackway_process.ring = map_session();
    if (!__trackway_process.ring || !__trackway_send_modules(session))
        return false;
    __atomic_store_n(&__trackway_process.session, session, __ATOMIC_RELEASE);
    return true;
}

static bool is_begun(uint32_t session) {
    return __atomic_load_n(&__trackway_process.session, __ATOMIC_ACQUIRE) == session;
}

bool __trackway_in_session(void) {
    const struct trackway_ring *page = __trackway_process.dormant;
    if (!page)
        return __trackway_process.ring != NULL;
    uint32_t session = __atomic_load_n(&page->session, __ATOMIC_ACQUIRE);
    if (session == 0 || !__trackway_takes_records(page))
        return false;
    if (is_begun(session))
        return true;
    if (!__trackway_try_to_lock_modules())
        return false; // this thread asks again
    bool begun = is_begun(session) || begin_session(session);
    __trackway_unlock_modules();
    return begun;
}
