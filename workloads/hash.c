// A hash table with separate chains: insert, look up, count, remove.
#include "random.h"
#include "region.h"
#include "size.h"

enum { FULL_KEYS = 1200000, SMALL_KEYS = 2000, LOOKUPS_PER_KEY = 6, KEYS_AT_A_TIME = 256 };

struct entry {
    uint64_t key;
    uint64_t uses;
    struct entry *next;
};

struct table {
    struct entry **buckets;
    size_t bucket_count;
    size_t entry_count;
};

static struct entry **bucket_of(struct table *table, uint64_t key) {
    return &table->buckets[(key * 0x9E3779B97F4A7C15u >> 20) & (table->bucket_count - 1)];
}

static struct entry *find(struct table *table, uint64_t key) {
    struct entry *entry = *bucket_of(table, key);
    while (entry && entry->key != key)
        entry = entry->next;
    return entry;
}

static void insert(struct table *table, uint64_t key) {
    struct entry **bucket = bucket_of(table, key);
    struct entry *entry = allocate(1, sizeof *entry);
    entry->key = key;
    entry->next = *bucket;
    *bucket = entry;
    table->entry_count++;
}

static int take_out(struct table *table, uint64_t key) {
    for (struct entry **link = bucket_of(table, key); *link; link = &(*link)->next) {
        if ((*link)->key == key) {
            struct entry *entry = *link;
            *link = entry->next;
            free(entry);
            table->entry_count--;
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_KEYS, SMALL_KEYS);
    struct table table = {.bucket_count = 1};
    while (table.bucket_count < n)
        table.bucket_count *= 2;
    table.buckets = allocate(table.bucket_count, sizeof *table.buckets);
    uint64_t random = 7, found = 0, uses = 0, removed = 0;
    for (size_t i = 0; i < n;) {
        TRACKWAY_REGION_BEGIN("insert");
        for (size_t end = end_of_part(i, KEYS_AT_A_TIME, n); i < end; i++) {
            uint64_t key = random_below(&random, 2 * n);
            if (!find(&table, key))
                insert(&table, key);
        }
        TRACKWAY_REGION_END("insert");
    }
    for (size_t i = 0; i < n * LOOKUPS_PER_KEY;) {
        TRACKWAY_REGION_BEGIN("lookup");
        for (size_t end = end_of_part(i, KEYS_AT_A_TIME, n * LOOKUPS_PER_KEY); i < end; i++) {
            struct entry *entry = find(&table, random_below(&random, 2 * n));
            if (entry) {
                found++;
                uses += ++entry->uses;
            }
        }
        TRACKWAY_REGION_END("lookup");
    }
    size_t most = table.entry_count;
    for (uint64_t key = 0; key < 2 * n;) {
        TRACKWAY_REGION_BEGIN("remove");
        for (size_t end = end_of_part(key, KEYS_AT_A_TIME, 2 * n); key < end; key++)
            removed += (uint64_t)take_out(&table, key);
        TRACKWAY_REGION_END("remove");
    }
    printf("hash keys %zu entries %zu found %llu uses %llu removed %llu left %zu\n", n, most, (unsigned long long)found,
           (unsigned long long)uses, (unsigned long long)removed, table.entry_count);
    free(table.buckets);
    return 0;
}
