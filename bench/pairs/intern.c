// Strings are interned in chains that compare them: each entry also has the string's hash, which is compared first.
#include "pair.h"
enum { WORDS = 1 << 18, SLOTS = 1 << 16, LOOKUPS = 1000000, LENGTH = 24 };
struct entry {
    struct entry *next;
#ifdef AFTER
    uint64_t hash;
#endif
    char *text;
};
static struct entry *slots[SLOTS];
static uint64_t hash(const char *text) {
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < LENGTH; i++)
        hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
    return hash;
}
static int is_same(const char *one, const char *other) {
    int i = 0;
    while (i < LENGTH && one[i] == other[i])
        i++;
    return i == LENGTH;
}
static struct entry *intern(const char *text) {
    uint64_t of_text = hash(text);
    struct entry **slot = &slots[of_text % SLOTS], *entry = *slot;
#ifdef AFTER
    while (entry && !(entry->hash == of_text && is_same(entry->text, text)))
        entry = entry->next;
#else
    while (entry && !is_same(entry->text, text))
        entry = entry->next;
#endif
    if (entry)
        return entry;
    entry = malloc(sizeof *entry);
    entry->next = *slot;
#ifdef AFTER
    entry->hash = of_text;
#endif
    entry->text = memcpy(malloc(LENGTH), text, LENGTH);
    return *slot = entry;
}
static void word(char *text, uint64_t number) {
    for (int i = LENGTH; i-- > 0; number >>= 1)
        text[i] = 'a' + (number & 1);
}
int main(void) {
    uint64_t sum = 0;
    char text[LENGTH];
    for (int i = 0; i < LOOKUPS; i++) {
        word(text, next_random() % WORDS);
        sum += intern(text)->text[LENGTH - 1];
    }
    print_sum(sum);
}
