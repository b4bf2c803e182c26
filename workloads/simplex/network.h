// A min-cost-flow network: nodes with supplies, arcs with costs and one common capacity.
#ifndef WORKLOADS_SIMPLEX_NETWORK_H
#define WORKLOADS_SIMPLEX_NETWORK_H

#include "../region.h"

#include <stddef.h>

typedef long cost_t;
typedef long flow_t;

enum arc_state { FIXED = -1, BASIC = 0, AT_LOWER = 1, AT_UPPER = 2 };
enum orientation { DOWN = 0, UP = 1 }; // of a node's basic arc: from its predecessor, or to it

struct node;

#ifdef SPLIT
// What pricing doesn't look at.
struct arc_rest {
    struct arc *nextout, *nextin;
    flow_t flow;
    cost_t org_cost;
};

struct arc {
    struct arc_rest *rest;
    int ident; // enum arc_state
    cost_t cost;
    struct node *tail, *head;
};
#define REST(arc) (arc)->rest
#else
// 64 bytes: an arc fills a cache line.
struct arc {
    cost_t cost;
    struct node *tail, *head;
    int ident; // enum arc_state
    struct arc *nextout, *nextin;
    flow_t flow;
    cost_t org_cost;
};
#define REST(arc) (arc)
#endif

struct node {
    cost_t potential;
    int orientation;
    struct node *child, *pred, *sibling, *sibling_prev; // the spanning tree
    struct arc *basic_arc;                              // joins the node to its predecessor
    struct arc *firstout, *firstin;
    struct arc *arc_tmp; // last arc of the list that starts at firstout
    flow_t flow;         // on the basic arc
    long depth;
    int number;
    int time; // of departure: arcs lead from earlier to slightly later nodes
};

struct network {
    size_t node_count, arc_count;
    struct node *nodes; // nodes[0] is the root, an artificial node
    struct arc *arcs;
    struct arc *artificial_arcs; // one for each node but the root
    flow_t *supply;              // by node number
    flow_t capacity;             // of every arc that is not artificial
    long pivots;
};

// Makes a timetable-like instance with `node_count` nodes and `degree` arcs out of each (fewer at the end).
void build_network(struct network *net, size_t node_count, size_t degree);
void free_network(struct network *net);

// Prints the instance in DIMACS form, so that another solver can check the answer.
void print_network(const struct network *net);

// Solves by the primal network simplex method and leaves flows in the arcs and potentials in the nodes.
void solve_network(struct network *net);

// The total cost of the flow; exits with a message if the flow is infeasible or not optimal.
cost_t checked_cost(const struct network *net);

// Picks an arc that enters the basis, or NULL at the optimum.
struct arc *price_next_group(struct network *net);
void start_pricing(const struct network *net);

#endif
