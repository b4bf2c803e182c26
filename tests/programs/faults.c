// A thousand times, an instruction in the middle of a block faults, and the handler mends what it needs.
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { FAULTS = 1000 };

static char *page;
static long before, between, after;

static void mend(int signal) {
    (void)signal;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int main(void) {
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, mend);
    for (int i = 0; i < FAULTS; i++) {
        mprotect(page, 4096, PROT_NONE);
        __asm__ volatile("addq $1, %0; addq $1, %1; incb %2; addq $1, %3"
                         : "+m"(before), "+m"(between), "+m"(page[i]), "+m"(after)::"memory", "cc");
    }
    printf("%ld %ld %ld\n", before, between, after);
    return 0;
}
