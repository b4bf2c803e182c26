// A hash table of chains: of open addresses.
#include "pair.h"
enum { COUNT = 1 << 21, SLOTS = 1 << 22, LOOKUPS = 3000000 };
struct entry {
    uint64_t key, value;
    struct entry *next;
};
#ifdef AFTER
static struct {
    uint64_t key, value;
} slots[SLOTS];
#else
static struct entry *slots[SLOTS];
#endif
static uint32_t hash(uint64_t key) { return key * 0x9E3779B97F4A7C15u >> 42; }
static void put(uint64_t key, uint64_t value) {
    uint32_t slot = hash(key);
#ifdef AFTER
    while (slots[slot].key)
        slot = (slot + 1) % SLOTS;
    slots[slot].key = key;
    slots[slot].value = value;
#else
    struct entry *entry = malloc(sizeof *entry);
    *entry = (struct entry){key, value, slots[slot]};
    slots[slot] = entry;
#endif
}
static uint64_t get(uint64_t key) {
    uint32_t slot = hash(key);
#ifdef AFTER
    for (; slots[slot].key; slot = (slot + 1) % SLOTS)
        if (slots[slot].key == key)
            return slots[slot].value;
#else
    for (struct entry *entry = slots[slot]; entry; entry = entry->next)
        if (entry->key == key)
            return entry->value;
#endif
    return 0;
}
int main(void) {
    uint64_t *keys = malloc(COUNT * sizeof *keys), sum = 0;
    for (int i = 0; i < COUNT; i++) {
        keys[i] = next_random() | 1;
        put(keys[i], i);
    }
    for (int i = 0; i < LOOKUPS; i++)
        sum += get(keys[next_random() % COUNT]);
    print_sum(sum);
}
