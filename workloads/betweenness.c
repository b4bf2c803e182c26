// Betweenness centrality after Brandes, from a few sources: forward, a breadth-first search counts shortest paths;
// backward, each vertex gathers from its successors how much depends on it. Fractions are in fixed point, and only
// integers are added by several threads, so the answer doesn't depend on them. Parallel with -fopenmp.
#include "graph.h"
#include "region.h"

enum { FULL_VERTICES = 300000, SMALL_VERTICES = 1000, DEGREE = 16, AT_A_TIME = 256, SOURCES = 4, UNSEEN = -1 };

static const uint64_t ONE = (uint64_t)1 << 32;

struct search {
    int32_t *depth;
    uint64_t *paths;     // shortest ones from the source
    uint64_t *share;     // (ONE + what depends on the vertex) / paths
    uint32_t *order;     // visited vertices, level by level
    size_t *level_start; // in `order`; level_start[level_count] is the end
    size_t level_count;
};

static struct search new_search(size_t n) {
    return (struct search){
        .depth = allocate(n, sizeof(int32_t)),
        .paths = allocate(n, sizeof(uint64_t)),
        .share = allocate(n, sizeof(uint64_t)),
        .order = allocate(n, sizeof(uint32_t)),
        .level_start = allocate(n + 2, sizeof(size_t)),
    };
}

static void free_search(struct search *search) {
    free(search->depth);
    free(search->paths);
    free(search->share);
    free(search->order);
    free(search->level_start);
}

static void start_at(struct search *search, size_t n, uint32_t source) {
    for (size_t vertex = 0; vertex < n; vertex++) {
        search->depth[vertex] = UNSEEN;
        search->paths[vertex] = 0;
    }
    search->depth[source] = 0;
    search->paths[source] = 1;
    search->order[0] = source;
    search->level_start[0] = 0;
    search->level_start[1] = 1;
    search->level_count = 1;
}

// Whether `target` is at `depth`; if it is unseen, it is from now on, and appended to the next level.
static inline int is_successor(struct search *search, uint32_t target, int32_t depth, size_t *order_size) {
    int32_t seen = __atomic_load_n(&search->depth[target], __ATOMIC_RELAXED);
    if (seen == UNSEEN &&
        __atomic_compare_exchange_n(&search->depth[target], &seen, depth, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        search->order[__atomic_fetch_add(order_size, 1, __ATOMIC_RELAXED)] = target;
        return 1;
    }
    return seen == depth;
}

static void count_paths(const struct graph *graph, struct search *search, size_t level) {
    size_t order_size = search->level_start[level + 1];
    int32_t depth = (int32_t)level + 1;
#pragma omp parallel for schedule(static)
    for (size_t first = search->level_start[level]; first < search->level_start[level + 1]; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("betweenness forward");
        for (size_t i = first, end = end_of_part(first, AT_A_TIME, search->level_start[level + 1]); i < end; i++) {
            uint32_t vertex = search->order[i];
            for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++) {
                uint32_t target = graph->target[edge];
                if (is_successor(search, target, depth, &order_size))
                    __atomic_fetch_add(&search->paths[target], search->paths[vertex], __ATOMIC_RELAXED);
            }
        }
        TRACKWAY_REGION_END("betweenness forward");
    }
    search->level_start[level + 2] = order_size;
}

static void search_forward(const struct graph *graph, struct search *search) {
    size_t level = 0;
    for (; search->level_start[level] < search->level_start[level + 1]; level++)
        count_paths(graph, search, level);
    search->level_count = level;
}

static inline uint64_t shares_of_successors(const struct graph *graph, const struct search *search, uint32_t vertex) {
    uint64_t sum = 0;
    for (uint32_t edge = graph->first_edge[vertex]; edge < graph->first_edge[vertex + 1]; edge++) {
        uint32_t target = graph->target[edge];
        if (search->depth[target] == search->depth[vertex] + 1)
            sum += search->share[target];
    }
    return sum;
}

static void gather(const struct graph *graph, struct search *search, size_t level, uint64_t *centrality) {
#pragma omp parallel for schedule(static)
    for (size_t first = search->level_start[level]; first < search->level_start[level + 1]; first += AT_A_TIME) {
        TRACKWAY_REGION_BEGIN("betweenness backward");
        for (size_t i = first, end = end_of_part(first, AT_A_TIME, search->level_start[level + 1]); i < end; i++) {
            uint32_t vertex = search->order[i];
            uint64_t paths = search->paths[vertex];
            uint64_t dependency = paths * shares_of_successors(graph, search, vertex);
            search->share[vertex] = (ONE + dependency) / paths;
            centrality[vertex] += dependency;
        }
        TRACKWAY_REGION_END("betweenness backward");
    }
}

// A source isn't between itself and others: level 0 gathers nothing.
static void gather_backward(const struct graph *graph, struct search *search, uint64_t *centrality) {
    for (size_t level = search->level_count; level-- > 1;)
        gather(graph, search, level, centrality);
}

// Rounds, so that what fixed point cut off doesn't show.
static unsigned long long rounded(uint64_t fixed, uint64_t unit) { return (fixed + unit / 2) / unit; }

static void print_answer(const struct graph *graph, const uint64_t *centrality) {
    uint64_t sum = 0, weighted = 0;
    size_t most = 0;
    for (size_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        sum += centrality[vertex];
        weighted += centrality[vertex] * (vertex % 7);
        most = centrality[vertex] > centrality[most] ? vertex : most;
    }
    printf("betweenness vertices %zu edges %u most %zu with %llu sum %llu weighted %llu\n", graph->vertex_count,
           edge_count(graph), most, rounded(centrality[most], ONE), rounded(sum, ONE), rounded(weighted, ONE));
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_VERTICES, SMALL_VERTICES);
    struct graph graph = build_graph(n, DEGREE, EVEN);
    struct search search = new_search(n);
    uint64_t *centrality = allocate(n, sizeof *centrality);
    for (uint32_t source = 0; source < SOURCES && source < n; source++) {
        start_at(&search, n, source);
        search_forward(&graph, &search);
        gather_backward(&graph, &search, centrality);
    }
    print_answer(&graph, centrality);
    free(centrality);
    free_search(&search);
    free_graph(&graph);
    return 0;
}
