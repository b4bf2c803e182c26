// Threads, forks, aligned blocks, reallocation, operator new: all of it placed or not, the sum is the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
struct alignas(128) Wide {
    uint64_t words[32];
};
static uint64_t sum_of(const unsigned char *bytes, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}
static void die(const char *what) {
    fprintf(stderr, "%s\n", what);
    _exit(3);
}
__attribute__((noinline)) static void *far_block(size_t size) { return malloc(size); }
static uint64_t work(unsigned seed) {
    uint64_t sum = 0;
    std::vector<unsigned char *> blocks;
    std::vector<size_t> sizes;
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t size = seed >> 20;
        if (blocks.size() > 200) {
            size_t at = seed % blocks.size();
            sum += sum_of(blocks[at], sizes[at]);
            switch (seed >> 16 & 3) {
            case 0: {
                auto *zero = static_cast<unsigned char *>(calloc(size + 1, 1));
                if (sum_of(zero, size + 1))
                    die("not zero");
                free(blocks[at]);
                blocks[at] = zero;
                sizes[at] = size + 1;
                break;
            }
            case 1: {
                blocks[at] = static_cast<unsigned char *>(realloc(blocks[at], size + 1));
                if (size + 1 > sizes[at])
                    memset(blocks[at] + sizes[at], 7, size + 1 - sizes[at]);
                sizes[at] = size + 1;
                break;
            }
            default:
                free(blocks[at]);
                blocks[at] = blocks.back();
                sizes[at] = sizes.back();
                blocks.pop_back();
                sizes.pop_back();
            }
        }
        auto *block = static_cast<unsigned char *>(far_block(size + 1));
        if (malloc_usable_size(block) < size + 1)
            die("too small");
        if (reinterpret_cast<uintptr_t>(block) % 16)
            die("not aligned");
        memset(block, seed & 0xff, size + 1);
        blocks.push_back(block);
        sizes.push_back(size + 1);
        Wide *wide = new Wide[2];
        if (reinterpret_cast<uintptr_t>(wide) % 128)
            die("not aligned to 128");
        wide[1].words[31] = seed;
        sum += wide[1].words[31];
        delete[] wide;
        void *page = nullptr;
        if (posix_memalign(&page, 4096, 100) || reinterpret_cast<uintptr_t>(page) % 4096)
            die("not a page");
        free(page);
    }
    for (size_t i = 0; i < blocks.size(); i++) {
        sum += sum_of(blocks[i], sizes[i]);
        free(blocks[i]);
    }
    return sum;
}
int main() {
    std::vector<uint64_t> sums(4);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; i++)
        threads.emplace_back([&sums, i] { sums[i] = work(i + 1); });
    for (auto &thread : threads)
        thread.join();
    auto *shared = static_cast<unsigned char *>(far_block(100000));
    memset(shared, 5, 100000);
    pid_t child = fork();
    if (child == 0) {
        if (sum_of(shared, 100000) != sum_of(shared, 100000) || shared[99999] != 5)
            die("not inherited");
        memset(shared, 9, 100000); // the parent must not see it
        _exit(work(99) == 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status)
        die("child");
    uint64_t sum = sum_of(shared, 100000);
    free(shared);
    for (uint64_t one : sums)
        sum = sum * 31 + one;
    printf("%llu\n", (unsigned long long)sum);
}
