// Two relations joined by a hash table with chains, as a database does: the smaller is built, the larger probes.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    uint32_t key;
    uint32_t payload;
} Tuple;

typedef struct Entry {
    Tuple tuple;
    struct Entry *next;
} Entry;

typedef struct {
    Entry **heads;
    Entry *entries;
    uint32_t mask;
} Table;

static uint32_t hash_of(uint32_t key) { return key * 2654435761u >> 7; }

static Table build(const Tuple *tuples, uint32_t count) {
    uint32_t size = 1;
    while (size < count)
        size *= 2;
    Table table = {calloc(size, sizeof(Entry *)), malloc(count * sizeof(Entry)), size - 1};
    for (uint32_t i = 0; i < count; i++) {
        Entry **head = &table.heads[hash_of(tuples[i].key) & table.mask];
        table.entries[i] = (Entry){tuples[i], *head};
        *head = &table.entries[i];
    }
    return table;
}

static uint64_t probe(const Table *table, const Tuple *tuples, uint32_t count, uint64_t *matches) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        for (const Entry *entry = table->heads[hash_of(tuples[i].key) & table->mask]; entry; entry = entry->next)
            if (entry->tuple.key == tuples[i].key) {
                sum += (uint64_t)entry->tuple.payload * tuples[i].payload;
                ++*matches;
            }
    return sum;
}

static Tuple *make_relation(uint32_t count, uint32_t keys) {
    static uint32_t state = 1;
    Tuple *tuples = malloc(count * sizeof *tuples);
    for (uint32_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        tuples[i] = (Tuple){(state >> 4) % keys, i};
    }
    return tuples;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    uint32_t small = (uint32_t)atoi(argv[1]), large = (uint32_t)atoi(argv[2]);
    Tuple *built = make_relation(small, small * 2), *probing = make_relation(large, small * 2);
    Table table = build(built, small);
    uint64_t matches = 0, sum = probe(&table, probing, large, &matches);
    printf("hash_join %llu matches %016llx\n", (unsigned long long)matches, (unsigned long long)sum);
    return 0;
}
