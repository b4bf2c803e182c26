// Entries of a list carry a large text that the walk doesn't read: behind a pointer.
#include "pair.h"
enum { COUNT = 400000, ROUNDS = 6 };
struct entry {
    struct entry *next;
    uint64_t weight;
#ifdef AFTER
    char *text;
#else
    char text[176];
#endif
};
int main(void) {
    struct entry *head = NULL;
    for (int i = 0; i < COUNT; i++) {
        struct entry *entry = malloc(sizeof *entry);
#ifdef AFTER
        static char *texts;
        if (i % 1000 == 0)
            texts = malloc(1000 * 176);
        entry->text = texts + i % 1000 * 176;
#endif
        memset(entry->text, 1, 176);
        entry->weight = i;
        entry->next = head;
        head = entry;
    }
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (struct entry *entry = head; entry; entry = entry->next)
            sum += entry->weight ^ round;
    print_sum(sum);
}
