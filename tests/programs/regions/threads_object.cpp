// A shared object that creates threads, itself and by the C++ library.
#include "regions.h"

#include <pthread.h>
#include <thread>

static void *touches(void *) {
    touch(20);
    return nullptr;
}

extern "C" void create_threads(void) {
    pthread_t thread;
    pthread_create(&thread, nullptr, touches, nullptr);
    pthread_join(thread, nullptr);
    std::thread([] { touch(30); }).join();
}
