#include "../random.h"
#include "../size.h"
#include "network.h"

enum { WINDOW = 256, CLOSED_ONE_IN = 8, CAPACITY = 4 };

static struct arc *allocate_arcs(size_t count) {
    struct arc *arcs = aligned_alloc(64, (count * sizeof *arcs + 63) / 64 * 64);
    if (!arcs) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
#ifdef SPLIT
    struct arc_rest *rests = allocate(count, sizeof *rests);
    for (size_t i = 0; i < count; i++)
        arcs[i].rest = &rests[i];
#endif
    return arcs;
}

static void free_arcs(struct arc *arcs) {
#ifdef SPLIT
    free(arcs->rest);
#endif
    free(arcs);
}

static void link_arc(struct arc *arc) {
    struct node *tail = arc->tail, *head = arc->head;
    REST(arc)->nextout = NULL;
    if (tail->arc_tmp)
        REST(tail->arc_tmp)->nextout = arc;
    else
        tail->firstout = arc;
    tail->arc_tmp = arc;
    REST(arc)->nextin = head->firstin;
    head->firstin = arc;
}

static void init_arc(struct arc *arc, struct node *tail, struct node *head, cost_t cost, int ident) {
    arc->tail = tail;
    arc->head = head;
    arc->cost = REST(arc)->org_cost = cost;
    REST(arc)->flow = 0;
    arc->ident = ident;
    link_arc(arc);
}

static void build_nodes(struct network *net, uint64_t *random) {
    net->nodes = allocate(net->node_count + 1, sizeof *net->nodes);
    net->supply = allocate(net->node_count + 1, sizeof *net->supply);
    int time = 0;
    for (size_t i = 0; i <= net->node_count; i++) {
        net->nodes[i].number = (int)i;
        net->nodes[i].time = time;
        time += 1 + (int)random_below(random, 20);
    }
    for (size_t i = 1; i < net->node_count; i++) {
        size_t reach = net->node_count - i < WINDOW ? net->node_count - i : WINDOW;
        size_t sink = i + 1 + random_below(random, reach);
        flow_t amount = (flow_t)random_below(random, 4);
        net->supply[i] += amount;
        net->supply[sink] -= amount;
    }
}

// The arc to the next node is always open and dear, so that every supply can reach its demand at some cost.
static void build_arcs_from(struct network *net, struct node *tail, size_t degree, uint64_t *random) {
    size_t after = net->node_count - (size_t)tail->number;
    for (size_t k = 0; k < degree && after > 0; k++) {
        size_t step = k == 0 ? 1 : 1 + random_below(random, after < WINDOW ? after : WINDOW);
        struct node *head = tail + step;
        cost_t cost = (head->time - tail->time) * 10 + (cost_t)random_below(random, 2000);
        int closed = k != 0 && random_below(random, CLOSED_ONE_IN) == 0;
        init_arc(&net->arcs[net->arc_count++], tail, head, cost, closed ? FIXED : AT_LOWER);
    }
}

void build_network(struct network *net, size_t node_count, size_t degree) {
    uint64_t random = 20260101;
    *net = (struct network){.node_count = node_count, .capacity = CAPACITY};
    build_nodes(net, &random);
    net->arcs = allocate_arcs(node_count * degree);
    for (size_t i = 1; i < node_count; i++)
        build_arcs_from(net, &net->nodes[i], degree, &random);
    net->artificial_arcs = allocate_arcs(node_count);
}

void free_network(struct network *net) {
    free(net->nodes);
    free(net->supply);
    free_arcs(net->arcs);
    free_arcs(net->artificial_arcs);
}

void print_network(const struct network *net) {
    printf("p min %zu %zu\n", net->node_count, net->arc_count);
    for (size_t i = 1; i <= net->node_count; i++)
        printf("n %zu %ld\n", i, net->supply[i]);
    for (const struct arc *arc = net->arcs; arc < net->arcs + net->arc_count; arc++)
        if (arc->ident != FIXED)
            printf("a %d %d 0 %ld %ld\n", arc->tail->number, arc->head->number, net->capacity, REST(arc)->org_cost);
}
