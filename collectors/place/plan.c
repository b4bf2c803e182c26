// Finding the plan.
#include "plan.h"
#include "allocator.h"
#include "far.h"
#include "kernel.h"
#include "memkind.h"
#include "sites.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "TRACKWAY_PLACE="
enum { MOST_PATH = 4096, FAILED = 125 };

struct plan *__trackway_plan;

void __trackway_complain(const char *message) {
    const char *parts[] = {"trackway: ", message, "\n"};
    for (int i = 0; i < 3; i++)
        kernel_call(SYS_write, STDERR_FILENO, (long)parts[i], (long)__builtin_strlen(parts[i]), 0);
}

_Noreturn void give_up(const char *what) {
    __trackway_complain(what);
    for (;;)
        kernel_call(SYS_exit_group, FAILED, 0, 0, 0);
}

// The value of our variable, from the environment as the kernel keeps it: the C library may not know its own yet.
static bool read_path(char *path) {
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
    char part[512];
    size_t matched = 0, used = 0;
    long length;
    bool found = false;
    if (file < 0)
        return false;
    while (!found && (length = kernel_call(SYS_read, file, (long)part, sizeof part, 0)) > 0)
        for (long i = 0; i < length && !found; i++) {
            bool is_value = matched == sizeof VARIABLE - 1;
            if (part[i] == 0) {
                found = is_value;
                matched = 0;
            } else if (is_value) {
                if (used < MOST_PATH - 1)
                    path[used++] = part[i];
            } else {
                matched = matched < sizeof VARIABLE && part[i] == VARIABLE[matched] ? matched + 1 : sizeof VARIABLE;
            }
        }
    kernel_call(SYS_close, file, 0, 0, 0);
    path[used] = 0;
    return found;
}

static struct plan *map_plan(const char *path) {
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0);
    struct stat status;
    if (file < 0 || kernel_call(SYS_fstat, file, (long)&status, 0, 0) < 0)
        give_up("the plan of placement can't be read: run the program by `trackway place --advice`");
    struct plan *plan =
        __trackway_allocator.mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    kernel_call(SYS_close, file, 0, 0, 0);
    if (plan == MAP_FAILED || (size_t)status.st_size < sizeof *plan || plan->magic != PLAN_MAGIC)
        give_up("the plan of placement is not of this version: build place.so and trackway of one source");
    return plan;
}

// Called once, when the program's allocator is known.
void attach(void) {
    static char path[MOST_PATH];
    if (!read_path(path))
        return;
    struct plan *plan = map_plan(path);
    begin_sites(plan);
    if (is_memkind(plan)) {
        leave_to_memkind(plan);
        return;
    }
    begin_far(plan);
    __trackway_plan = plan;
}
