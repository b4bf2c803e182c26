// An array of pointers to small objects: the objects themselves.
#include "pair.h"
enum { COUNT = 1 << 21, ROUNDS = 4 };
struct point {
    float x, y;
};
int main(void) {
#ifdef AFTER
    struct point *points = malloc(COUNT * sizeof *points);
#define POINT(i) points[i]
#else
    struct point **points = malloc(COUNT * sizeof *points);
#define POINT(i) (*points[i])
    uint32_t *order = shuffled(COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        points[order[i]] = malloc(sizeof **points);
#endif
    for (uint32_t i = 0; i < COUNT; i++)
        POINT(i) = (struct point){i % 10, i % 7};
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < COUNT; i++)
            sum += POINT(i).x * POINT(i).y;
    print_sum(sum);
}
