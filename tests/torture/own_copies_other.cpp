struct Seven {
    unsigned v[7];
};
__attribute__((noinline)) static int use(const Seven *s, int k) { return static_cast<int>(s->v[k]); }
int take(Seven s, int k) { return use(&s, k) + static_cast<int>(s.v[6]); }
