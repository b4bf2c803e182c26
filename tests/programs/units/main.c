// Three units; the others are linked to this one.
#include <stdio.h>

long sum_of_light(int rounds);

int main(void) {
    printf("%ld\n", sum_of_light(100));
    return 0;
}
