#include "network.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what, long number) {
    fprintf(stderr, "simplex: %s (at %ld)\n", what, number);
    exit(1);
}

static void check_conservation(const struct network *net, const struct node *node) {
    flow_t balance = net->supply[node->number];
    for (const struct arc *arc = node->firstout; arc; arc = REST(arc)->nextout)
        balance -= REST(arc)->flow;
    for (const struct arc *arc = node->firstin; arc; arc = REST(arc)->nextin)
        balance += REST(arc)->flow;
    if (balance != 0)
        fail("supply is not carried away", node->number);
}

// Complementary slackness: together with feasibility it proves the optimum.
static void check_arc(const struct network *net, const struct arc *arc) {
    cost_t reduced_cost = REST(arc)->org_cost - arc->tail->potential + arc->head->potential;
    if (REST(arc)->flow < 0 || REST(arc)->flow > net->capacity)
        fail("flow out of bounds", arc - net->arcs);
    if (arc->ident == FIXED) {
        if (REST(arc)->flow != 0)
            fail("flow on a closed arc", arc - net->arcs);
        return;
    }
    if (REST(arc)->flow < net->capacity && reduced_cost < 0)
        fail("more flow would pay", arc - net->arcs);
    if (REST(arc)->flow > 0 && reduced_cost > 0)
        fail("less flow would pay", arc - net->arcs);
}

cost_t checked_cost(const struct network *net) {
    cost_t cost = 0;
    for (size_t i = 1; i <= net->node_count; i++)
        check_conservation(net, &net->nodes[i]);
    for (const struct arc *arc = net->arcs; arc < net->arcs + net->arc_count; arc++) {
        check_arc(net, arc);
        cost += REST(arc)->flow * REST(arc)->org_cost;
    }
    return cost;
}
