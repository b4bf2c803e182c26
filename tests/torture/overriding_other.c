static int cache[10];
int fixed(int x) {
    if (!cache[x])
        cache[x] = x * x + 1;
    return cache[x];
}
int peek(const int *p) { return p[0] + p[1]; }
int replaced(int *p) {
    *p ^= 6;
    return 9;
}
__attribute__((weak)) int kept(int *p) {
    *p += 1000;
    return 3;
}
int call_kept(int *p) { return kept(p); }
int call_inline(int x) { return x + cache[x]; }
