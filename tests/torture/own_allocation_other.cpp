#include <cstddef>
char pool[1 << 16];
size_t used;
int calls[4];
void *operator new(size_t n) {
    calls[n & 3]++;
    used = (used + 15) & ~15ul;
    void *p = pool + used;
    used += n;
    return p;
}
void operator delete(void *) noexcept { calls[2]--; }
void operator delete(void *, size_t) noexcept { calls[2]--; }
extern "C" size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n])
        n++;
    calls[1]++;
    return n;
}
