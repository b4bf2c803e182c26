// Random directed graphs in CSR form: the edges of vertex v are target[first_edge[v]] up to target[first_edge[v + 1]].
// Loops and parallel edges occur. tests/end_to_end/support/graphs.py makes the same graphs.
#ifndef WORKLOADS_GRAPH_H
#define WORKLOADS_GRAPH_H

#include "random.h"
#include "size.h"

enum spread {
    EVEN,       // edges are uniform over the vertices
    FRONT_HEAVY // both ends of edges gather at low vertices, with a density that falls as the square of the rest
};

struct graph {
    size_t vertex_count;
    uint32_t *first_edge; // vertex_count + 1 entries
    uint32_t *target;
};

static inline uint64_t random_degree(uint64_t *random, size_t vertex, size_t n, uint64_t degree, enum spread spread) {
    uint64_t most = spread == EVEN ? degree : 3 * degree * (n - vertex) * (n - vertex) / (n * n);
    return random_below(random, most + 1);
}

static inline uint32_t random_target(uint64_t *random, size_t n, enum spread spread) {
    uint64_t target = random_below(random, n);
    if (spread == FRONT_HEAVY) {
        // The least of three uniform numbers.
        for (int draw = 1; draw < 3; draw++) {
            uint64_t other = random_below(random, n);
            target = other < target ? other : target;
        }
    }
    return (uint32_t)target;
}

// On average half of `degree` edges leave a vertex.
static inline struct graph build_graph(size_t n, unsigned degree, enum spread spread) {
    // The squares of a front-heavy graph add up to a little more than n times `degree`.
    struct graph graph = {n, allocate(n + 1, sizeof(uint32_t)), allocate((n + 2) * degree, sizeof(uint32_t))};
    uint64_t random = 5;
    uint32_t edges = 0;
    for (size_t vertex = 0; vertex < n; vertex++) {
        graph.first_edge[vertex] = edges;
        for (uint64_t k = random_degree(&random, vertex, n, degree, spread); k > 0; k--)
            graph.target[edges++] = random_target(&random, n, spread);
    }
    graph.first_edge[n] = edges;
    return graph;
}

static inline uint32_t edge_count(const struct graph *graph) { return graph->first_edge[graph->vertex_count]; }

static inline void free_graph(struct graph *graph) {
    free(graph->first_edge);
    free(graph->target);
}

#endif
