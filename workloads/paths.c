// Shortest paths from a few sources over weighted edges, after Bellman and Ford: each round relaxes the edges of the
// vertices that came closer in the round before. How many rounds a vertex takes part in depends on the threads, its
// distance doesn't. Parallel with -fopenmp.
#include "graph.h"
#include "region.h"

enum { FULL_VERTICES = 160000, SMALL_VERTICES = 1000, DEGREE = 16, AT_A_TIME = 256, SOURCES = 3, MOST_WEIGHT = 255 };

static const uint32_t UNREACHED = UINT32_MAX;

struct search {
    uint32_t *distance;
    uint32_t *joined; // the last round for which a vertex is listed in `next`
    uint32_t *frontier, *next;
    size_t frontier_size;
};

static uint32_t *random_weights(size_t edges) {
    uint32_t *weight = allocate(edges + 1, sizeof *weight);
    uint64_t random = 19;
    for (size_t edge = 0; edge < edges; edge++)
        weight[edge] = 1 + (uint32_t)random_below(&random, MOST_WEIGHT);
    return weight;
}

static struct search new_search(size_t n) {
    return (struct search){
        .distance = allocate(n, sizeof(uint32_t)),
        .joined = allocate(n, sizeof(uint32_t)),
        .frontier = allocate(n, sizeof(uint32_t)),
        .next = allocate(n, sizeof(uint32_t)),
    };
}

static void free_search(struct search *search) {
    free(search->distance);
    free(search->joined);
    free(search->frontier);
    free(search->next);
}

static inline int comes_closer(uint32_t *distance, uint32_t candidate) {
    uint32_t old = __atomic_load_n(distance, __ATOMIC_RELAXED);
    while (candidate < old)
        if (__atomic_compare_exchange_n(distance, &old, candidate, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 1;
    return 0;
}

static size_t relax(const struct graph *graph, const uint32_t *weight, struct search *search, uint32_t round) {
    size_t next_size = 0;
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < search->frontier_size; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("paths relax");
        for (size_t i = first, end = end_of_part(first, AT_A_TIME, search->frontier_size); i < end; i++) {
            uint32_t vertex = search->frontier[i];
            // Another thread may lower it meanwhile; then the vertex is in the next frontier, too.
            uint32_t distance = __atomic_load_n(&search->distance[vertex], __ATOMIC_RELAXED);
            for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++) {
                uint32_t target = graph->target[edge];
                if (comes_closer(&search->distance[target], distance + weight[edge]) &&
                    __atomic_exchange_n(&search->joined[target], round, __ATOMIC_RELAXED) != round)
                    search->next[__atomic_fetch_add(&next_size, 1, __ATOMIC_RELAXED)] = target;
            }
        }
        TRACKWAY_REGION_END("paths relax");
    }
    return next_size;
}

static void find_paths(const struct graph *graph, const uint32_t *weight, struct search *search, uint32_t source) {
    for (size_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        search->distance[vertex] = UNREACHED;
        search->joined[vertex] = 0;
    }
    search->distance[source] = 0;
    search->frontier[0] = source;
    search->frontier_size = 1;
    for (uint32_t round = 1; search->frontier_size > 0; round++) {
        search->frontier_size = relax(graph, weight, search, round);
        uint32_t *swapped = search->frontier;
        search->frontier = search->next;
        search->next = swapped;
    }
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_VERTICES, SMALL_VERTICES);
    struct graph graph = build_graph(n, DEGREE, EVEN);
    uint32_t *weight = random_weights(edge_count(&graph));
    struct search search = new_search(n);
    uint64_t reached = 0, sum = 0, farthest = 0;
    for (uint32_t source = 0; source < SOURCES && source < n; source++) {
        find_paths(&graph, weight, &search, source);
        for (size_t vertex = 0; vertex < n; vertex++) {
            uint32_t distance = search.distance[vertex];
            if (distance == UNREACHED)
                continue;
            reached++;
            sum += distance;
            farthest = distance > farthest ? distance : farthest;
        }
    }
    printf("paths vertices %zu edges %u reached %llu farthest %llu distances %llu\n", n, edge_count(&graph),
           (unsigned long long)reached, (unsigned long long)farthest, (unsigned long long)sum);
    free_search(&search);
    free(weight);
    free_graph(&graph);
    return 0;
}
