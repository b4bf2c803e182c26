// Points in random order, of which the compiler reads both coordinates by one load: two arrays would miss twice as
// often.
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 40000, ROUNDS = 4 };

struct point {
    int x, y;
};

__attribute__((noinline)) static void copy(struct point *to, const struct point *from) {
    to->x = from->x;
    to->y = from->y;
}

int main(void) {
    struct point *points = malloc(COUNT * sizeof *points), found;
    if (points == NULL)
        return 1;
    for (int i = 0; i < COUNT; i++) {
        struct point point = {i, COUNT - i};
        copy(&points[i], &point);
    }
    long sum = 0;
    unsigned at = 0;
    for (int step = 0; step < ROUNDS * COUNT; step++) {
        at = (at * 1664525u + 1013904223u) % COUNT;
        copy(&found, &points[at]);
        sum += found.x ^ found.y;
    }
    printf("%ld\n", sum);
    free(points);
    return 0;
}
