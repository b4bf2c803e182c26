// A join by a table of open addresses that holds whole rows: the table holds keys and the numbers of rows.
#include "pair.h"
enum { ROWS = 1 << 18, SLOTS = 1 << 19, PROBES = 3000000 };
struct row {
    uint32_t key;
    uint32_t amount, more[6];
};
#ifdef AFTER
static struct {
    uint32_t key, row;
} slots[SLOTS];
static struct row rows[ROWS];
#define AMOUNT(slot) rows[slots[slot].row].amount
#else
static struct row slots[SLOTS];
#define AMOUNT(slot) slots[slot].amount
#endif
static uint32_t hash(uint32_t key) { return key * 2654435769u >> 13; }
int main(void) {
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t key = i * 8 + 1, slot = hash(key);
        while (slots[slot].key)
            slot = (slot + 1) % SLOTS;
        slots[slot].key = key;
#ifdef AFTER
        slots[slot].row = i;
        rows[i] = (struct row){key, i, {0}};
#else
        slots[slot].amount = i;
#endif
    }
    uint64_t sum = 0;
    for (int i = 0; i < PROBES; i++) {
        // One of four keys is there.
        uint32_t key = (next_random() % (ROWS * 4)) * 2 + 1, slot = hash(key);
        while (slots[slot].key && slots[slot].key != key)
            slot = (slot + 1) % SLOTS;
        if (slots[slot].key)
            sum += AMOUNT(slot);
    }
    print_sum(sum);
}
