// Random look-ups read one field of a large structure: hot and cold parts apart.
#include "pair.h"
enum { COUNT = 1 << 18, LOOKUPS = 4000000 };
#ifdef AFTER
struct user {
    uint64_t score;
};
struct cold {
    char text[504];
};
static struct cold *colds;
#else
struct user {
    uint64_t score;
    char text[504];
};
#endif
int main(void) {
    struct user *users = malloc(COUNT * sizeof *users);
#ifdef AFTER
    colds = malloc(COUNT * sizeof *colds);
#endif
    for (int i = 0; i < COUNT; i++) {
        users[i].score = i;
#ifdef AFTER
        memset(colds[i].text, 1, sizeof colds[i].text);
#else
        memset(users[i].text, 1, sizeof users[i].text);
#endif
    }
    uint64_t sum = 0;
    for (int i = 0; i < LOOKUPS; i++)
        sum += users[next_random() % COUNT].score;
    print_sum(sum);
}
