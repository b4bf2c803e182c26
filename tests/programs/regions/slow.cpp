#include "slow.h"

#include <unistd.h>

void slow(int milliseconds) { usleep(1000 * milliseconds); }
int quick(int number) { return number & 1; }
void throws_if_odd(int number) {
    if (number & 1)
        throw number;
}
int calls_back(int (*function)(int), int times) {
    int sum = 0;
    for (int i = 0; i < times; i++)
        sum = function(sum);
    return sum;
}
