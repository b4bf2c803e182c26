// Threads that inherit regions: what the forms of pthread_create and thrd_create have in common that
// `trackway cc --inherit=threads` links.
#ifndef TRACKWAY_THREADS_H
#define TRACKWAY_THREADS_H

#include "runtime.h"

#include <pthread.h>
#include <threads.h>

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int create_c11_thread(thrd_t *, thrd_start_t, void *);

// Calls `create`, which is the C library's function or another one in its place. The new thread begins in the regions
// that are open here.
HIDDEN int __trackway_create_thread(create_thread *create, pthread_t *thread, const pthread_attr_t *attributes,
                                    void *(*routine)(void *), void *argument);
HIDDEN int __trackway_create_c11_thread(create_c11_thread *create, thrd_t *thread, thrd_start_t routine,
                                        void *argument);

#endif
