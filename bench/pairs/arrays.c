// Particles as an array of structures of which a step uses a quarter: a structure of arrays.
#include "pair.h"
enum { COUNT = 1 << 20, ROUNDS = 6 };
#ifdef AFTER
static float x[COUNT], vx[COUNT], rest[14][COUNT];
#define X(i) x[i]
#define VX(i) vx[i]
#define REST(i) rest[0][i]
#else
struct particle {
    float x, vx, rest[14];
};
static struct particle all[COUNT];
#define X(i) all[i].x
#define VX(i) all[i].vx
#define REST(i) all[i].rest[0]
#endif
int main(void) {
    for (int i = 0; i < COUNT; i++)
        X(i) = i % 100, VX(i) = i % 3, REST(i) = 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            X(i) += VX(i);
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += X(i);
    print_sum(sum);
}
