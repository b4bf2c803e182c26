// The functions that create threads, in executables and shared objects: they stand before those of the C library, also
// for libraries such as libstdc++.
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>

// That of a sanitizer, which has its own in the place of the C library's.
extern create_thread __interceptor_pthread_create __attribute__((weak));

static create_thread *next_create_thread(void) {
    static create_thread *known;
    create_thread *next = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!next) {
        next = __interceptor_pthread_create;
        if (!next)
            next = (create_thread *)dlsym(RTLD_NEXT, "pthread_create");
        __atomic_store_n(&known, next, __ATOMIC_RELAXED);
    }
    return next;
}

VISIBLE int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                           void *argument) {
    create_thread *next = next_create_thread();
    return next ? __trackway_create_thread(next, thread, attributes, routine, argument) : ENOSYS;
}

static create_c11_thread *next_create_c11_thread(void) {
    static create_c11_thread *known;
    create_c11_thread *next = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!next) {
        next = (create_c11_thread *)dlsym(RTLD_NEXT, "thrd_create");
        __atomic_store_n(&known, next, __ATOMIC_RELAXED);
    }
    return next;
}

// The C library's doesn't call pthread_create by its name. Programs may bring their own, which calls it.
VISIBLE __attribute__((weak)) int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
    create_c11_thread *next = next_create_c11_thread();
    return next ? __trackway_create_c11_thread(next, thread, routine, argument) : thrd_error;
}
