// Random look-ups over many pages: huge ones.
// whatif: --huge-pages
#include "pair.h"
#include <sys/mman.h>
enum { BYTES = 1 << 27, LOOKUPS = 5000000 };
int main(void) {
    uint64_t *table = aligned_alloc(1 << 21, BYTES);
#ifdef AFTER
    madvise(table, BYTES, MADV_HUGEPAGE);
#else
    madvise(table, BYTES, MADV_NOHUGEPAGE);
#endif
    memset(table, 1, BYTES);
    uint64_t sum = 0;
    for (int i = 0; i < LOOKUPS; i++)
        sum += table[next_random() % (BYTES / sizeof *table)];
    print_sum(sum);
}
