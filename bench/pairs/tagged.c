// A filter reads whole records to look at a tag: tags in an array of their own.
#include "pair.h"
enum { COUNT = 1 << 20, ROUNDS = 8 };
#ifdef AFTER
static uint8_t tags[COUNT];
#define TAG(i) tags[i]
struct record {
    uint64_t value, rest[6];
};
#else
struct record {
    uint8_t tag;
    uint64_t value, rest[6];
};
#define TAG(i) records[i].tag
#endif
static struct record records[COUNT];
int main(void) {
    for (int i = 0; i < COUNT; i++)
        TAG(i) = next_random() % 100, records[i].value = i;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            if (TAG(i) == round)
                sum += records[i].value;
    print_sum(sum);
}
