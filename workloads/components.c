// Connected components after Shiloach and Vishkin: edges hook the larger of two labels on the smaller, then labels are
// compressed to roots, until nothing changes. Every component ends with its least vertex as label, whichever thread
// came first. The graph's edges gather at low vertices and its vertices are dealt statically: the first thread does
// most of the hooking, while compressing is even. Parallel with -fopenmp.
#include "graph.h"
#include "region.h"

enum { FULL_VERTICES = 1500000, SMALL_VERTICES = 3000, DEGREE = 8, AT_A_TIME = 1024 };

static inline uint32_t label_of(const uint32_t *labels, uint32_t vertex) {
    return __atomic_load_n(&labels[vertex], __ATOMIC_RELAXED);
}

static inline void set_label(uint32_t *labels, uint32_t vertex, uint32_t label) {
    __atomic_store_n(&labels[vertex], label, __ATOMIC_RELAXED);
}

// Returns whether the labels differed and the larger one was a root. Of two threads that hook the same root one is
// overwritten; its edge is still there in the next round.
static inline int hook(uint32_t *labels, uint32_t vertex, uint32_t target) {
    uint32_t one = label_of(labels, vertex), other = label_of(labels, target);
    uint32_t low = one < other ? one : other, high = one < other ? other : one;
    if (low == high || label_of(labels, high) != high)
        return 0;
    set_label(labels, high, low);
    return 1;
}

static int hook_all(const struct graph *graph, uint32_t *labels) {
    int changed = 0;
#pragma omp parallel for schedule(static) reduction(| : changed)
    for (size_t first = 0; first < graph->vertex_count; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("components hook");
        for (size_t vertex = first, end = end_of_part(first, AT_A_TIME, graph->vertex_count); vertex < end; vertex++)
            for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++)
                changed |= hook(labels, (uint32_t)vertex, graph->target[edge]);
        TRACKWAY_REGION_END("components hook");
    }
    return changed;
}

static inline uint32_t root_of(const uint32_t *labels, uint32_t vertex) {
    for (uint32_t label; (label = label_of(labels, vertex)) != vertex;)
        vertex = label;
    return vertex;
}

static void compress_all(size_t n, uint32_t *labels) {
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < n; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("components compress");
        for (size_t vertex = first, end = end_of_part(first, AT_A_TIME, n); vertex < end; vertex++)
            set_label(labels, (uint32_t)vertex, root_of(labels, (uint32_t)vertex));
        TRACKWAY_REGION_END("components compress");
    }
}

static void find_components(const struct graph *graph, uint32_t *labels) {
    for (size_t vertex = 0; vertex < graph->vertex_count; vertex++)
        labels[vertex] = (uint32_t)vertex;
    while (hook_all(graph, labels))
        compress_all(graph->vertex_count, labels);
}

static void print_answer(const struct graph *graph, const uint32_t *labels) {
    size_t n = graph->vertex_count, components = 0, largest = 0;
    size_t *members = allocate(n, sizeof *members);
    uint64_t sum = 0;
    for (size_t vertex = 0; vertex < n; vertex++) {
        components += labels[vertex] == vertex;
        sum += labels[vertex];
        size_t size = ++members[labels[vertex]];
        largest = size > largest ? size : largest;
    }
    printf("components vertices %zu edges %u components %zu largest %zu sum %llu\n", n, edge_count(graph), components,
           largest, (unsigned long long)sum);
    free(members);
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_VERTICES, SMALL_VERTICES);
    struct graph graph = build_graph(n, DEGREE, FRONT_HEAVY);
    uint32_t *labels = allocate(n, sizeof *labels);
    find_components(&graph, labels);
    print_answer(&graph, labels);
    free(labels);
    free_graph(&graph);
    return 0;
}
