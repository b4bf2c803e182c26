// Two loops in turn: one waits for memory at each access, the other makes most accesses in little time.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1 << 18, STEPS = 300000, WORDS = 2048, PASSES = 4000, TURNS = 8 };

struct line {
    struct line *next;
    char rest[56];
};

static struct line *linked(struct line *lines) {
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < LINES; i++)
        lines[i].next = &lines[i];
    for (size_t i = LINES - 1; i > 0; i--) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t j = random % i;
        struct line *swapped = lines[i].next;
        lines[i].next = lines[j].next;
        lines[j].next = swapped;
    }
    return lines;
}

__attribute__((noinline)) static struct line *wait(struct line *line) {
    for (size_t step = 0; step < STEPS; step++)
        line = line->next; // SLOW
    return line;
}

__attribute__((noinline)) static uint64_t hurry(const uint64_t *words, uint64_t sum) {
    for (size_t pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < WORDS; i++)
            sum = (sum ^ words[i]) + 1; // FAST
    return sum;
}

int main(void) {
    struct line *lines = calloc(LINES, sizeof *lines), *line = linked(lines);
    uint64_t *words = calloc(WORDS, sizeof *words), sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        line = wait(line);
        sum = hurry(words, sum);
    }
    printf("%td %llu\n", line - lines, (unsigned long long)sum);
    return 0;
}
