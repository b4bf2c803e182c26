// Min-cost flow by the network simplex method, after 429.mcf: the pricing loop tests `arc->ident` of one arc after
// the other in an array far larger than the caches.
#include "../size.h"
#include "network.h"

enum { FULL_NODES = 2000, SMALL_NODES = 120, DEGREE = 300, SMALL_DEGREE = 8 };

int main(int argc, char **argv) {
    int print_only = argc == 3 && strcmp(argv[2], "print") == 0;
    size_t node_count = size_argument(argc, argv, FULL_NODES, SMALL_NODES);
    struct network net;
    build_network(&net, node_count, node_count > 1000 ? DEGREE : SMALL_DEGREE);
    if (print_only) {
        print_network(&net);
    } else {
        solve_network(&net);
        printf("simplex nodes %zu arcs %zu pivots %ld cost %ld\n", net.node_count, net.arc_count, net.pivots,
               checked_cost(&net));
    }
    free_network(&net);
    return 0;
}
