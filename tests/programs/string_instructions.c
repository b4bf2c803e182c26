// Repeated string instructions, both ways, with counts that are known.
#include <stdio.h>
#include <string.h>

enum { SIZE = 4096, MOVED = 1000, STORED = 300, FOUND_AT = 700, SAME = 123 };

static unsigned char from[SIZE], to[SIZE];
static long words[STORED];

static void move_bytes(size_t count) {
    void *target = to, *source = from;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count)::"memory");
}

static void store_words_backwards(size_t count) {
    void *target = words + STORED - 1;
    __asm__ volatile("std; rep stosq; cld" : "+D"(target), "+c"(count) : "a"(5L) : "memory");
}

static size_t left_after_search(int wanted) {
    size_t count = SIZE;
    void *target = from;
    __asm__ volatile("repne scasb" : "+D"(target), "+c"(count) : "a"(wanted) : "memory", "cc");
    return count;
}

static size_t left_after_comparison(void) {
    size_t count = SIZE;
    void *one = from, *other = to;
    __asm__ volatile("repe cmpsb" : "+D"(one), "+S"(other), "+c"(count)::"memory", "cc");
    return count;
}

int main(void) {
    memset(from, 1, SIZE);
    from[FOUND_AT] = 9;
    move_bytes(MOVED);
    move_bytes(0);
    store_words_backwards(STORED);
    to[SAME] = 77;
    printf("%zu %zu %ld\n", left_after_search(9), left_after_comparison(), words[0] + words[STORED - 1]);
    return 0;
}
