// Fills a LevelDB in the folder `store`, reads keys at random and in order, deletes and compacts: the number of keys.
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

static uint32_t state = 1;

static uint32_t next_number() { return (state = state * 1664525u + 1013904223u) >> 4; }

static void check(const leveldb::Status &status) {
    if (!status.ok()) {
        std::fprintf(stderr, "store: %s\n", status.ToString().c_str());
        std::exit(1);
    }
}

static std::string key_of(uint32_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "key%012u", number);
    return text;
}

static void fill(leveldb::DB &store, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 100) {
        leveldb::WriteBatch batch;
        for (uint32_t j = 0; j < 100; j++) {
            uint32_t number = next_number() % (2 * count);
            batch.Put(key_of(number), std::string(20 + number % 100, static_cast<char>('a' + number % 26)));
        }
        check(store.Write(leveldb::WriteOptions(), &batch));
    }
}

static uint64_t read_at_random(leveldb::DB &store, uint32_t count) {
    uint64_t sum = 0;
    std::string value;
    for (uint32_t i = 0; i < count; i++) {
        leveldb::Status status = store.Get(leveldb::ReadOptions(), key_of(next_number() % (2 * count)), &value);
        if (status.ok())
            sum = sum * 31 + value.size() + static_cast<unsigned char>(value[0]);
        else if (!status.IsNotFound())
            check(status);
    }
    return sum;
}

static uint64_t read_in_order(leveldb::DB &store, uint64_t *count) {
    uint64_t sum = 0;
    std::unique_ptr<leveldb::Iterator> at(store.NewIterator(leveldb::ReadOptions()));
    for (at->SeekToFirst(); at->Valid(); at->Next(), ++*count)
        sum = sum * 31 + at->key().size() + at->value().size();
    check(at->status());
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    uint32_t count = static_cast<uint32_t>(std::atoi(argv[1]));
    leveldb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    std::unique_ptr<const leveldb::FilterPolicy> filter(leveldb::NewBloomFilterPolicy(10));
    options.filter_policy = filter.get();
    leveldb::DB *opened = nullptr;
    check(leveldb::DB::Open(options, "store", &opened));
    std::unique_ptr<leveldb::DB> store(opened);
    fill(*store, count);
    uint64_t keys = 0, random = read_at_random(*store, count);
    uint64_t ordered = read_in_order(*store, &keys);
    for (uint32_t i = 0; i < count / 4; i++)
        check(store->Delete(leveldb::WriteOptions(), key_of(next_number() % (2 * count))));
    store->CompactRange(nullptr, nullptr);
    uint64_t left = 0, after = read_in_order(*store, &left);
    std::printf("store %llu keys, %llu left, sums %016llx %016llx %016llx\n", (unsigned long long)keys,
                (unsigned long long)left, (unsigned long long)random, (unsigned long long)ordered,
                (unsigned long long)after);
    return 0;
}
