// The functions that create threads, in static executables: the linker takes these for them (`--wrap`).
#include "threads.h"

create_thread __wrap_pthread_create, __real_pthread_create;
create_c11_thread __wrap_thrd_create, __real_thrd_create;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument) {
    return __trackway_create_thread(__real_pthread_create, thread, attributes, routine, argument);
}

int __wrap_thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
    return __trackway_create_c11_thread(__real_thrd_create, thread, routine, argument);
}
