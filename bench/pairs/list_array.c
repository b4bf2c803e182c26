// Orders in a list that grew among other allocations: in an array.
#include "pair.h"
enum { COUNT = 300000, ROUNDS = 5 };
struct order {
#ifndef AFTER
    struct order *next;
#endif
    uint32_t price, quantity;
    char payload[40];
};
int main(void) {
    uint64_t sum = 0;
#ifdef AFTER
    struct order *orders = malloc(COUNT * sizeof *orders);
#else
    struct order *head = NULL, **at = &head;
#endif
    for (uint32_t i = 0; i < COUNT; i++) {
#ifdef AFTER
        struct order *order = &orders[i];
#else
        struct order *order = malloc(sizeof *order);
        *at = order, at = &order->next, order->next = NULL;
#endif
        order->price = i % 1000;
        order->quantity = i % 7;
        char *other = malloc(16 + next_random() % 200);
        *other = 1;
    }
    for (int round = 0; round < ROUNDS; round++)
#ifdef AFTER
        for (struct order *order = orders; order < orders + COUNT; order++)
#else
        for (struct order *order = head; order; order = order->next)
#endif
            sum += order->price * order->quantity;
    print_sum(sum);
}
