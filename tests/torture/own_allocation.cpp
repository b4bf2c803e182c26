// flags:
// with: own_allocation_other.cpp
// places: start early
// tries: allocation functions and a strlen of the program's own, which record too
#include <cstddef>
#include <cstdio>
extern int calls[4];
extern size_t used;
struct S {
    int v[5];
};
__attribute__((noinline)) S *mk(int *q, int i) {
    q[i]++;
    S *s = new S;
    q[i] += s != nullptr;
    s->v[2] = i;
    q[i + 1]++;
    return s;
}
extern "C" size_t strlen(const char *);
int main() {
    int q[12] = {};
    long t = 0;
    for (int i = 0; i < 10; i++) {
        S *s = mk(q, i);
        t += s->v[2];
        delete s;
        q[i] ^= 3;
        t += (long)strlen((char *)q);
        q[3]++;
    }
    printf("%ld %d %d %d %zu\n", t, q[3], calls[0], calls[2], used);
}
