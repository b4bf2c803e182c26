// Which accounts of a bank belong together: two do if a chain of transfers joins them. Groups are trees of accounts
// (union-find with path halving), so the search for a group follows `parent` from account to account.
//
// -DSPLIT makes the change that Trackway proposes: `parent` in an array of its own.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    char owner[56];
    char branch[24];
    int64_t balance, limit;
    int64_t opened, last_transfer;
    uint32_t transfers, currency;
#ifndef SPLIT
    uint32_t parent; // towards the first account of its group, whose parent is itself
#endif
    uint32_t number;
};

static struct account *accounts;
#ifdef SPLIT
static uint32_t *parents;
#define PARENT(account) parents[account]
#else
#define PARENT(account) accounts[account].parent
#endif

static uint32_t group_of(uint32_t account) {
    while (PARENT(account) != account) {
        PARENT(account) = PARENT(PARENT(account));
        account = PARENT(account);
    }
    return account;
}

static uint32_t random_account(uint32_t count) {
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 32) * count >> 32);
}

static void open_accounts(uint32_t count) {
    accounts = calloc(count, sizeof *accounts);
#ifdef SPLIT
    parents = calloc(count, sizeof *parents);
    if (!parents)
        exit(1);
#endif
    if (!accounts)
        exit(1);
    for (uint32_t i = 0; i < count; i++) {
        accounts[i].number = i;
        accounts[i].balance = 1000;
        PARENT(i) = i;
    }
}

static void transfer(uint32_t from, uint32_t to) {
    accounts[from].balance--;
    accounts[to].balance++;
    uint32_t first = group_of(from), second = group_of(to);
    if (first < second)
        PARENT(second) = first;
    else
        PARENT(first) = second;
}

int main(int argc, char **argv) {
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
    open_accounts(count);
    for (uint32_t i = 0; i < count; i++)
        transfer(random_account(count), random_account(count));
    uint32_t together = 0;
    for (uint32_t i = 0; i < 20 * count; i++) {
        uint32_t one = random_account(count), other = random_account(count);
        together += group_of(one) == group_of(other);
    }
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++)
        groups += group_of(i) == i;
    printf("accounts %u groups %u together %u\n", count, groups, together);
    return 0;
}
