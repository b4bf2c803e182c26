// Counts the triangles of an undirected graph: each vertex has a sorted list of its lower neighbours, and what the
// lists of both ends of an edge have in common makes a triangle each. Lists are of very unequal length, so threads take
// vertices as they get done. Parallel with -fopenmp.
#include "graph.h"
#include "region.h"

enum { FULL_VERTICES = 200000, SMALL_VERTICES = 1500, DEGREE = 16, AT_A_TIME = 64 };

struct lists {
    size_t vertex_count;
    uint32_t *start; // vertex_count + 1 entries
    uint32_t *size;  // without repetitions, at most what there is room for
    uint32_t *neighbour;
};

static inline void count_edge(struct lists *lists, uint32_t high) { lists->start[high + 1]++; }

static inline void add_edge(struct lists *lists, uint32_t high, uint32_t low) {
    lists->neighbour[lists->start[high] + lists->size[high]++] = low;
}

// Each edge is listed at its higher end; loops are left out.
static struct lists lower_neighbours(const struct graph *graph) {
    size_t n = graph->vertex_count;
    struct lists lists = {n, allocate(n + 1, sizeof(uint32_t)), allocate(n, sizeof(uint32_t)),
                          allocate(edge_count(graph) + 1, sizeof(uint32_t))};
    for (uint32_t vertex = 0; vertex < n; vertex++)
        for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++)
            if (graph->target[edge] != vertex)
                count_edge(&lists, graph->target[edge] > vertex ? graph->target[edge] : vertex);
    for (size_t vertex = 0; vertex < n; vertex++)
        lists.start[vertex + 1] += lists.start[vertex];
    for (uint32_t vertex = 0; vertex < n; vertex++)
        for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++) {
            uint32_t target = graph->target[edge];
            if (target > vertex)
                add_edge(&lists, target, vertex);
            else if (target < vertex)
                add_edge(&lists, vertex, target);
        }
    return lists;
}

static void free_lists(struct lists *lists) {
    free(lists->start);
    free(lists->size);
    free(lists->neighbour);
}

// Insertion sort, as lists are short; returns the size without repetitions.
static uint32_t sort_list(uint32_t *list, uint32_t size) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t value = list[i], j = kept;
        while (j > 0 && list[j - 1] > value)
            j--;
        if (j > 0 && list[j - 1] == value)
            continue;
        for (uint32_t k = kept; k > j; k--)
            list[k] = list[k - 1];
        list[j] = value;
        kept++;
    }
    return kept;
}

static void sort_lists(struct lists *lists) {
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < lists->vertex_count; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("triangles sort");
        for (size_t vertex = first, end = end_of_part(first, AT_A_TIME, lists->vertex_count); vertex < end; vertex++)
            lists->size[vertex] = sort_list(lists->neighbour + lists->start[vertex], lists->size[vertex]);
        TRACKWAY_REGION_END("triangles sort");
    }
}

static uint64_t common(const struct lists *lists, uint32_t one, uint32_t other) {
    const uint32_t *a = lists->neighbour + lists->start[one], *a_end = a + lists->size[one];
    const uint32_t *b = lists->neighbour + lists->start[other], *b_end = b + lists->size[other];
    uint64_t count = 0;
    while (a < a_end && b < b_end) {
        count += *a == *b;
        uint32_t low = *a < *b ? *a : *b;
        a += *a == low;
        b += *b == low;
    }
    return count;
}

static uint64_t count_triangles(const struct lists *lists) {
    uint64_t triangles = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : triangles)
    for (size_t first = 0; first < lists->vertex_count; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("triangles count");
        for (size_t vertex = first, end = end_of_part(first, AT_A_TIME, lists->vertex_count); vertex < end; vertex++)
            for (uint32_t i = 0; i < lists->size[vertex]; i++)
                triangles += common(lists, (uint32_t)vertex, lists->neighbour[lists->start[vertex] + i]);
        TRACKWAY_REGION_END("triangles count");
    }
    return triangles;
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_VERTICES, SMALL_VERTICES);
    struct graph graph = build_graph(n, DEGREE, FRONT_HEAVY);
    struct lists lists = lower_neighbours(&graph);
    sort_lists(&lists);
    uint64_t neighbours = 0;
    for (size_t vertex = 0; vertex < n; vertex++)
        neighbours += lists.size[vertex];
    printf("triangles vertices %zu edges %llu triangles %llu\n", n, (unsigned long long)neighbours,
           (unsigned long long)count_triangles(&lists));
    free_lists(&lists);
    free_graph(&graph);
    return 0;
}
