// Finding the recorder's ring, without the C library: it may not have begun.
#include "kernel.h"
#include "ring.h"
#include "ring_name.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

// Maps the ring's first page if the descriptor is that of the named file.
static struct trackway_ring *map_descriptor(long descriptor, const struct ring_name *name) {
    struct stat file;
    if (kernel_call(SYS_fstat, descriptor, (long)&file, 0, 0) != 0 || file.st_dev != name->device ||
        file.st_ino != name->inode)
        return NULL;
    long memory = kernel_call_of_6(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return kernel_call_failed(memory) ? NULL : (struct trackway_ring *)memory;
}

// A parent may have closed the inherited descriptor.
static struct trackway_ring *map_from_recorder(const struct ring_name *name) {
    struct text path = path_at_recorder(name);
    long descriptor = kernel_call(SYS_openat, AT_FDCWD, (long)path.bytes, O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0)
        return NULL;
    struct trackway_ring *ring = map_descriptor(descriptor, name);
    kernel_call(SYS_close, descriptor, 0, 0, 0);
    return ring;
}

struct trackway_ring *__trackway_find_ring(const char *variable) {
    struct ring_name name;
    if (!variable || !read_name(variable, &name))
        return NULL;
    struct trackway_ring *ring = map_descriptor((long)name.descriptor, &name);
    return ring ? ring : map_from_recorder(&name);
}

bool __trackway_speaks_our_version(const struct trackway_ring *ring) {
    return ring->magic == TRACKWAY_RING_MAGIC && ring->abi == TRACKWAY_ABI;
}
