#include "network.h"

#include <limits.h>

#define ARTIFICIAL_COST 10000000L

static int is_artificial(const struct network *net, const struct arc *arc) {
    return arc >= net->artificial_arcs && arc < net->artificial_arcs + net->node_count;
}

static void attach(struct node *node, struct node *pred) {
    node->pred = pred;
    node->sibling_prev = NULL;
    node->sibling = pred->child;
    if (pred->child)
        pred->child->sibling_prev = node;
    pred->child = node;
}

static void detach(struct node *node) {
    if (node->sibling)
        node->sibling->sibling_prev = node->sibling_prev;
    if (node->sibling_prev)
        node->sibling_prev->sibling = node->sibling;
    else
        node->pred->child = node->sibling;
}

// The first basis: every node hangs on the root by an artificial arc that carries its supply.
static void start_basis(struct network *net) {
    struct node *root = net->nodes;
    for (size_t i = 1; i <= net->node_count; i++) {
        struct node *node = &net->nodes[i];
        struct arc *arc = &net->artificial_arcs[i - 1];
        flow_t supply = net->supply[i];
        node->orientation = supply >= 0 ? UP : DOWN;
#ifdef SPLIT
        *arc = (struct arc){.rest = arc->rest, .cost = ARTIFICIAL_COST, .ident = BASIC};
        *arc->rest = (struct arc_rest){.org_cost = ARTIFICIAL_COST};
#else
        *arc = (struct arc){.cost = ARTIFICIAL_COST, .org_cost = ARTIFICIAL_COST, .ident = BASIC};
#endif
        arc->tail = supply >= 0 ? node : root;
        arc->head = supply >= 0 ? root : node;
        node->flow = supply >= 0 ? supply : -supply;
        node->potential = supply >= 0 ? ARTIFICIAL_COST : -ARTIFICIAL_COST;
        node->basic_arc = arc;
        node->depth = 1;
        attach(node, root);
    }
}

// How much more can flow through the node's basic arc, towards the root (`towards` UP) or away from it.
static flow_t residual(const struct network *net, const struct node *node, int towards) {
    if (node->orientation != towards)
        return node->flow;
    return is_artificial(net, node->basic_arc) ? LONG_MAX : net->capacity - node->flow;
}

struct pivot {
    struct arc *entering;
    struct node *from, *to; // flow is pushed through the entering arc from `from` to `to`
    struct node *join;      // where the tree paths of both meet
    struct node *leaving;   // its basic arc leaves; NULL: the entering arc goes from one bound to the other
    int leaving_on_from_side;
    flow_t amount;
};

// Ties are broken as strongly feasible trees demand: the last blocking arc along the cycle, seen from the join,
// leaves. So the method can't cycle.
static void find_leaving(const struct network *net, struct pivot *pivot) {
    struct node *from = pivot->from, *to = pivot->to;
    flow_t from_amount = net->capacity, to_amount = LONG_MAX;
    struct node *from_leaving = NULL, *to_leaving = NULL;
    while (from != to) {
        if (from->depth >= to->depth) {
            flow_t room = residual(net, from, DOWN);
            if (room < from_amount) {
                from_amount = room;
                from_leaving = from;
            }
            from = from->pred;
        } else {
            flow_t room = residual(net, to, UP);
            if (room <= to_amount) {
                to_amount = room;
                to_leaving = to;
            }
            to = to->pred;
        }
    }
    pivot->join = from;
    pivot->leaving_on_from_side = !to_leaving || to_amount > from_amount;
    pivot->amount = pivot->leaving_on_from_side ? from_amount : to_amount;
    pivot->leaving = pivot->leaving_on_from_side ? from_leaving : to_leaving;
}

static void push_flow(const struct pivot *pivot) {
    flow_t amount = pivot->amount;
    if (amount == 0)
        return;
    for (struct node *node = pivot->from; node != pivot->join; node = node->pred)
        node->flow += node->orientation == DOWN ? amount : -amount;
    for (struct node *node = pivot->to; node != pivot->join; node = node->pred)
        node->flow += node->orientation == UP ? amount : -amount;
}

// Hangs the subtree that the leaving arc cut off on `parent`, with `inner` as its top: the predecessors on the way
// from `inner` to the leaving arc turn round.
static void rehang(struct node *inner, struct node *parent, struct arc *arc, flow_t flow, const struct node *top) {
    struct node *node = inner;
    int orientation = arc->tail == inner ? UP : DOWN;
    for (;;) {
        struct node *old_pred = node->pred;
        struct arc *old_arc = node->basic_arc;
        flow_t old_flow = node->flow;
        int turned = node->orientation == UP ? DOWN : UP;
        detach(node);
        attach(node, parent);
        node->basic_arc = arc;
        node->flow = flow;
        node->orientation = orientation;
        if (node == top)
            return;
        parent = node;
        node = old_pred;
        arc = old_arc;
        flow = old_flow;
        orientation = turned;
    }
}

static void refresh_node(struct node *node) {
    const struct node *pred = node->pred;
    cost_t cost = node->basic_arc->cost;
    node->depth = pred->depth + 1;
    node->potential = pred->potential + (node->orientation == UP ? cost : -cost);
}

// Depths and potentials of a subtree, in preorder and without a stack.
static void refresh_subtree(struct node *top) {
    struct node *node = top;
    for (;;) {
        refresh_node(node);
        if (node->child) {
            node = node->child;
            continue;
        }
        while (node != top && !node->sibling)
            node = node->pred;
        if (node == top)
            return;
        node = node->sibling;
    }
}

static void exchange(const struct network *net, const struct pivot *pivot) {
    struct arc *entering = pivot->entering, *leaving_arc = pivot->leaving->basic_arc;
    struct node *inner = pivot->leaving_on_from_side ? pivot->from : pivot->to;
    struct node *parent = pivot->leaving_on_from_side ? pivot->to : pivot->from;
    flow_t flow = entering->ident == AT_LOWER ? pivot->amount : net->capacity - pivot->amount;
    REST(leaving_arc)->flow = pivot->leaving->flow;
    if (is_artificial(net, leaving_arc))
        leaving_arc->ident = FIXED;
    else
        leaving_arc->ident = REST(leaving_arc)->flow == 0 ? AT_LOWER : AT_UPPER;
    entering->ident = BASIC;
    rehang(inner, parent, entering, flow, pivot->leaving);
    refresh_subtree(inner);
}

static void pivot_on(struct network *net, struct arc *entering) {
    int rises = entering->ident == AT_LOWER;
    struct pivot pivot = {.entering = entering};
    pivot.from = rises ? entering->tail : entering->head;
    pivot.to = rises ? entering->head : entering->tail;
    find_leaving(net, &pivot);
    push_flow(&pivot);
    if (pivot.leaving) {
        exchange(net, &pivot);
    } else {
        REST(entering)->flow = rises ? net->capacity : 0;
        entering->ident = rises ? AT_UPPER : AT_LOWER;
    }
    net->pivots++;
}

void solve_network(struct network *net) {
    start_basis(net);
    start_pricing(net);
    for (struct arc *entering; (entering = price_next_group(net));)
        pivot_on(net, entering);
    for (size_t i = 1; i <= net->node_count; i++)
        REST(net->nodes[i].basic_arc)->flow = net->nodes[i].flow;
}
