// Calls of functions that aren't instrumented. Prints the nanoseconds of the slow ones by its own clock, each call in
// its own reading.
#include "trackway.h"

#include <cstdio>
#include <ctime>

#include "slow.h"

static long now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static int called_back(int number) { return number + 1; }

int main() {
    long slow_ns = 0;
    int sum = 0;
    TRACKWAY_REGION_BEGIN("calling");
    for (int i = 0; i < 20; i++) {
        long before = now();
        slow(2);
        slow_ns += now() - before;
    }
    for (int i = 0; i < 100000; i++)
        sum += quick(i);
    for (int i = 0; i < 30; i++) {
        try {
            throws_if_odd(i);
            sum++;
        } catch (int) {
            sum--;
        }
    }
    sum += calls_back(called_back, 1000);
    TRACKWAY_REGION_END("calling");
    printf("%ld %d\n", slow_ns, sum);
}
