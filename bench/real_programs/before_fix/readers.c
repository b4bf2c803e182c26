// LMDB: two threads look up keys, each look-up in a transaction of its own: the sum of what they find.
#include "random.h"
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEYS = 1000 };
static MDB_env *environment;
static MDB_dbi table;
static unsigned look_ups;

static void check(int status) {
    if (status) {
        fprintf(stderr, "readers: %s\n", mdb_strerror(status));
        exit(1);
    }
}

static void *read_all(void *seed) {
    uint64_t state = (uintptr_t)seed, sum = 0;
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction));
    for (unsigned i = 0; i < look_ups; i++) {
        unsigned number = next_number(&state) % KEYS;
        MDB_val key = {sizeof number, &number}, value;
        mdb_txn_reset(transaction);
        check(mdb_txn_renew(transaction));
        check(mdb_get(transaction, table, &key, &value));
        sum += *(unsigned *)value.mv_data;
    }
    mdb_txn_abort(transaction);
    return (void *)(uintptr_t)sum;
}

int main(int count, char **words) {
    if (count < 2)
        return 2;
    look_ups = atoi(words[1]);
    char folder[] = "/tmp/readers-XXXXXX", name[64];
    if (!mkdtemp(folder))
        return 1;
    check(mdb_env_create(&environment));
    check(mdb_env_open(environment, folder, MDB_NOSYNC, 0600));
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, NULL, 0, &transaction));
    check(mdb_dbi_open(transaction, NULL, MDB_INTEGERKEY, &table));
    for (unsigned number = 0; number < KEYS; number++) {
        unsigned square = number * number;
        MDB_val key = {sizeof number, &number}, value = {sizeof square, &square};
        check(mdb_put(transaction, table, &key, &value, 0));
    }
    check(mdb_txn_commit(transaction));
    pthread_t threads[2];
    uintptr_t sum = 0;
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_all, (void *)(i + 1));
    for (int i = 0; i < 2; i++) {
        void *of_thread;
        pthread_join(threads[i], &of_thread);
        sum += (uintptr_t)of_thread;
    }
    mdb_env_close(environment);
    const char *files[] = {"data.mdb", "lock.mdb"};
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, files[i]);
        unlink(name);
    }
    rmdir(folder);
    printf("%llu\n", (unsigned long long)sum);
}
