// Runs a loop that it writes into anonymous memory, over a block: code that stands in no file.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORDS = 1 << 16 };

// add (%rdi), %rax; add $8, %rdi; dec %rsi; jne to the begin; ret
static const unsigned char code[] = {0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x48, 0xff, 0xce, 0x75, 0xf4, 0xc3};

typedef uint64_t generated(const uint64_t *, uint64_t);

int main(int count, char **arguments) {
    long rounds = count > 1 ? atol(arguments[1]) : 1;
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *block = calloc(WORDS, sizeof *block), sum = 0;
    if (page == MAP_FAILED || !block)
        return 2;
    memcpy(page, code, sizeof code);
    for (long round = 0; round < rounds; round++)
        sum += ((generated *)(uintptr_t)page)(block, WORDS);
    printf("%p %p %d\n", (void *)page, (void *)block, (int)(sum & 1));
    return 0;
}
