// Built by a plain compiler.
#include <stdexcept>

struct Destroyed {
    ~Destroyed() { (*count)++; }
    long *count;
};

long pass_through(long (*next)(int), int depth) {
    static long count;
    Destroyed here{&count};
    return next(depth) + 1;
}

long catch_inside(long (*next)(int), int depth) {
    try {
        return next(depth);
    } catch (const std::runtime_error &) {
        if (depth % 2)
            throw std::logic_error("thrown without recording");
        return 11;
    }
}
