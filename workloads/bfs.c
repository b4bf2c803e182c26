// Breadth-first search on a random graph in CSR form, level by level; parallel with -fopenmp. The distance of a vertex
// doesn't depend on which thread reaches it first, so neither does the answer.
#include "graph.h"
#include "region.h"

enum { FULL_VERTICES = 400000, SMALL_VERTICES = 3000, DEGREE = 16, AT_A_TIME = 256, UNSEEN = -1 };

// Visits the vertices of one level; returns how many vertices the next level has.
static size_t visit_level(const struct graph *graph, int32_t *distance, const uint32_t *level, size_t level_size,
                          uint32_t *next, int32_t depth) {
    size_t next_size = 0;
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < level_size; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("level");
        for (size_t i = first, end = end_of_part(first, AT_A_TIME, level_size); i < end; i++) {
            uint32_t vertex = level[i];
            for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++) {
                uint32_t target = graph->target[edge];
                int32_t unseen = UNSEEN;
                if (__atomic_load_n(&distance[target], __ATOMIC_RELAXED) == UNSEEN &&
                    __atomic_compare_exchange_n(&distance[target], &unseen, depth, 0, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED))
                    next[__atomic_fetch_add(&next_size, 1, __ATOMIC_RELAXED)] = target;
            }
        }
        TRACKWAY_REGION_END("level");
    }
    return next_size;
}

static int32_t search(const struct graph *graph, int32_t *distance, uint32_t start) {
    uint32_t *level = allocate(graph->vertex_count, sizeof *level);
    uint32_t *next = allocate(graph->vertex_count, sizeof *next);
    size_t level_size = 1;
    int32_t depth = 0;
    for (size_t vertex = 0; vertex < graph->vertex_count; vertex++)
        distance[vertex] = UNSEEN;
    distance[start] = 0;
    level[0] = start;
    while (level_size > 0) {
        level_size = visit_level(graph, distance, level, level_size, next, ++depth);
        uint32_t *swapped = level;
        level = next;
        next = swapped;
    }
    free(level);
    free(next);
    return depth - 1;
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_VERTICES, SMALL_VERTICES);
    struct graph graph = build_graph(n, DEGREE, EVEN);
    int32_t *distance = allocate(n, sizeof *distance);
    int64_t reached = 0, sum = 0;
    int32_t deepest = 0;
    for (uint32_t start = 0; start < 12; start++) {
        int32_t depth = search(&graph, distance, start);
        deepest = depth > deepest ? depth : deepest;
        for (size_t vertex = 0; vertex < n; vertex++) {
            reached += distance[vertex] != UNSEEN;
            sum += distance[vertex] != UNSEEN ? distance[vertex] : 0;
        }
    }
    printf("bfs vertices %zu edges %u depth %d reached %lld distances %lld\n", n, edge_count(&graph), deepest,
           (long long)reached, (long long)sum);
    free_graph(&graph);
    free(distance);
    return 0;
}
