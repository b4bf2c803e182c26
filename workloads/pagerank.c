// PageRank by pushing: each vertex adds a share of its rank to its targets. Ranks are in fixed point, so sums are exact
// in any order, and what isn't pushed (the damping, vertices without edges) is spread over all: the total stays the
// same. Parallel with -fopenmp.
#include "graph.h"
#include "region.h"

enum { FULL_VERTICES = 200000, SMALL_VERTICES = 1200, DEGREE = 16, AT_A_TIME = 256, ROUNDS = 20, DAMPING_PERCENT = 85 };

// The sum of all ranks; times the percentage it still fits.
enum { BILLIONTH = 100000000 };
static const uint64_t TOTAL = (uint64_t)1000000000 * BILLIONTH;

// Returns how much rank was pushed.
static uint64_t push(const struct graph *graph, const uint64_t *rank, uint64_t *arriving) {
    uint64_t pushed = 0;
#pragma omp parallel for schedule(static) reduction(+ : pushed)
    for (size_t first = 0; first < graph->vertex_count; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("pagerank push");
        for (size_t vertex = first, end = end_of_part(first, AT_A_TIME, graph->vertex_count); vertex < end; vertex++) {
            uint32_t first_edge = graph->first_edge[vertex], end_of_edges = graph->first_edge[vertex + 1];
            if (first_edge == end_of_edges)
                continue;
            uint64_t share = rank[vertex] * DAMPING_PERCENT / 100 / (end_of_edges - first_edge);
            for (uint32_t edge = first_edge; edge < end_of_edges; edge++)
                __atomic_fetch_add(&arriving[graph->target[edge]], share, __ATOMIC_RELAXED);
            pushed += share * (end_of_edges - first_edge);
        }
        TRACKWAY_REGION_END("pagerank push");
    }
    return pushed;
}

// Makes ranks of what arrived and of an equal part of the rest.
static void settle(size_t n, uint64_t *rank, uint64_t *arriving, uint64_t rest) {
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < n; first += 32 * AT_A_TIME) { // it takes little per vertex
        TRACKWAY_REGION_BEGIN("pagerank settle");
        for (size_t vertex = first, end = end_of_part(first, 32 * AT_A_TIME, n); vertex < end; vertex++) {
            rank[vertex] = arriving[vertex] + rest / n;
            arriving[vertex] = 0;
        }
        TRACKWAY_REGION_END("pagerank settle");
    }
}

static unsigned long long billionths(uint64_t rank) { return (rank + BILLIONTH / 2) / BILLIONTH; }

static void print_answer(const struct graph *graph, const uint64_t *rank) {
    size_t most = 0;
    uint64_t weighted = 0;
    for (size_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        most = rank[vertex] > rank[most] ? vertex : most;
        weighted += rank[vertex] * (vertex % 7);
    }
    printf("pagerank vertices %zu edges %u most %zu with %llu weighted %llu\n", graph->vertex_count, edge_count(graph),
           most, billionths(rank[most]), billionths(weighted));
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_VERTICES, SMALL_VERTICES);
    struct graph graph = build_graph(n, DEGREE, EVEN);
    uint64_t *rank = allocate(n, sizeof *rank);
    uint64_t *arriving = allocate(n, sizeof *arriving);
    for (size_t vertex = 0; vertex < n; vertex++)
        rank[vertex] = TOTAL / n;
    for (int round = 0; round < ROUNDS; round++)
        settle(n, rank, arriving, TOTAL - push(&graph, rank, arriving));
    print_answer(&graph, rank);
    free(rank);
    free(arriving);
    free_graph(&graph);
    return 0;
}
