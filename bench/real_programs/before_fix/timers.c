// libev: arms timers, and arms them anew in random order, as a server does with the timeouts of its connections: how
// many are armed.
#include "random.h"
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

static void expired(struct ev_loop *loop, ev_timer *timer, int events) { (void)loop, (void)timer, (void)events; }

struct connection {
    ev_timer timer;
    char name[104];
};

int main(int count, char **words) {
    if (count < 3)
        return 2;
    unsigned connections = atoi(words[1]), requests = atoi(words[2]);
    struct ev_loop *loop = ev_loop_new(EVBACKEND_SELECT);
    struct connection **all = malloc(connections * sizeof *all);
    uint64_t state = 1;
    for (unsigned i = 0; i < connections; i++) {
        all[i] = calloc(1, sizeof **all);
        ev_timer_init(&all[i]->timer, expired, 0, 1000 + next_number(&state) % 1000000);
        ev_timer_again(loop, &all[i]->timer);
    }
    for (unsigned i = 0; i < requests; i++) {
        struct connection *one = all[next_number(&state) % connections];
        one->timer.repeat = 1000 + next_number(&state) % 1000000;
        ev_timer_again(loop, &one->timer);
    }
    unsigned armed = 0;
    for (unsigned i = 0; i < connections; i++)
        armed += ev_is_active(&all[i]->timer) != 0;
    printf("%u\n", armed);
}
