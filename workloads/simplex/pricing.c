#include "network.h"

// Arcs are dealt into groups like cards (arc i belongs to group i modulo the number of groups), and one group after
// the other is searched for its best arc: each step of the loop lands on another cache line.
enum { GROUP_SIZE = 300 };

static size_t group_count;
static size_t next_group;

void start_pricing(const struct network *net) {
    group_count = (net->arc_count + GROUP_SIZE - 1) / GROUP_SIZE;
    next_group = 0;
}

static inline int violates(int ident, cost_t reduced_cost) {
    return ident == AT_LOWER ? reduced_cost < 0 : reduced_cost > 0;
}

static struct arc *best_of_group(const struct network *net, size_t group) {
    struct arc *best = NULL;
    cost_t best_violation = 0;
    struct arc *stop = net->arcs + net->arc_count;
    for (struct arc *arc = net->arcs + group; arc < stop; arc += group_count) {
        if (arc->ident > BASIC) {
            cost_t reduced_cost = arc->cost - arc->tail->potential + arc->head->potential;
            if (violates(arc->ident, reduced_cost)) {
                cost_t violation = reduced_cost < 0 ? -reduced_cost : reduced_cost;
                if (violation > best_violation) {
                    best_violation = violation;
                    best = arc;
                }
            }
        }
    }
    return best;
}

struct arc *price_next_group(struct network *net) {
    struct arc *best = NULL;
    TRACKWAY_REGION_BEGIN("pricing");
    for (size_t tried = 0; tried < group_count && !best; tried++) {
        best = best_of_group(net, next_group);
        next_group = next_group + 1 == group_count ? 0 : next_group + 1;
    }
    TRACKWAY_REGION_END("pricing");
    return best;
}
