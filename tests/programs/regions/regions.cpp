// Regions that are left by exceptions, and such of scopes. What each of them touches stands in the test.
#include "regions.h"

#include <cstdio>
#include <stdexcept>

namespace {

void thrower() {
    touch(1);
    throw std::runtime_error("through a region");
}

// Doesn't know that something is thrown through it.
__attribute__((noinline)) void in_the_middle() {
    TRACKWAY_REGION_BEGIN("middle");
    touch(1);
    thrower();
    touch(1);
    TRACKWAY_REGION_END("middle");
}

// The same with something to destroy on the way.
struct Destroyed {
    ~Destroyed() { touch(1); }
};

__attribute__((noinline)) void in_the_middle_with_cleanup() {
    TRACKWAY_REGION_BEGIN("middle with cleanup");
    Destroyed destroyed;
    thrower();
    TRACKWAY_REGION_END("middle with cleanup");
}

void throw_if(bool really) {
    if (really)
        thrower();
}

void caught_outside() {
    try {
        throw_if(false);
        TRACKWAY_REGION_BEGIN("caught outside");
        touch(1);
        thrower();
        TRACKWAY_REGION_END("caught outside");
    } catch (const std::runtime_error &) {
        touch(1);
    }
    touch(1);
}

void caught_where_only_the_region_leads() {
    try {
        TRACKWAY_REGION_BEGIN("caught where only it leads");
        touch(1);
        thrower();
        TRACKWAY_REGION_END("caught where only it leads");
    } catch (const std::runtime_error &) {
        touch(1);
    }
    touch(1);
}

void caught_within() {
    TRACKWAY_REGION_BEGIN("caught within");
    try {
        in_the_middle();
    } catch (const std::runtime_error &) {
        touch(3);
    }
    touch(1);
    TRACKWAY_REGION_END("caught within");
}

void caught_beyond_cleanup() {
    try {
        in_the_middle_with_cleanup();
    } catch (const std::runtime_error &) {
        touch(1);
    }
}

void thrown_again() {
    TRACKWAY_REGION_BEGIN("thrown again");
    try {
        thrower();
    } catch (const std::runtime_error &) {
        touch(1);
        throw;
    }
    TRACKWAY_REGION_END("thrown again");
}

int guarded(int early) {
    touch(1);
    {
        TRACKWAY_REGION("guard");
        touch(1);
        if (early == 1)
            return 1;
        if (early == 2)
            thrower();
        touch(1);
    }
    touch(1);
    return 0;
}

void guarded_loop(int rounds) {
    for (int i = 0; i < rounds; i++) {
        TRACKWAY_REGION("guard in loop");
        touch(1);
        if (i == 3)
            continue;
        if (i == 5)
            break;
        TRACKWAY_REGION("guard within");
        touch(1);
    }
}

class Worker {
  public:
    TRACKWAY_REGION_FUNCTION void run(int times) {
        touch(times);
        if (times == 3)
            thrower();
    }
};

template <class Call> void swallow(Call call) {
    try {
        call();
    } catch (const std::runtime_error &) {
        touch(1);
    }
}

} // namespace

int main() {
    for (int i = 0; i < 3; i++) {
        caught_outside();
        caught_where_only_the_region_leads();
        caught_within();
        caught_beyond_cleanup();
        swallow(thrown_again);
        swallow([i] { guarded(i); });
    }
    guarded_loop(10);
    Worker worker;
    for (int times = 1; times < 4; times++)
        swallow([&] { worker.run(times); });
    std::puts("regions left");
}
