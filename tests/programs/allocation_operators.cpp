// Every form of operator new and operator delete, once each; the failing one throws.
#include <cstdio>
#include <new>

struct alignas(128) wide {
    char bytes[256];
};

int main() {
    delete new int;
    delete[] new int[10];
    delete new (std::nothrow) int;
    delete[] new (std::nothrow) int[10];
    delete new wide;
    delete[] new wide[3];
    delete new (std::nothrow) wide;
    delete[] new (std::nothrow) wide[3];
    try {
        (void)!::operator new(~std::size_t{0} / 4);
    } catch (const std::bad_alloc &) {
        std::fputs("thrown\n", stderr);
        return 0;
    }
    return 1;
}
