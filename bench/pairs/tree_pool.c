// Nodes of a tree in random places: in the order of a walk, from a pool.
#include "pair.h"
enum { COUNT = 1 << 20, WALKS = 3 };
struct node {
    uint32_t key;
    struct node *left, *right;
    uint64_t value[3];
};
static struct node nodes[COUNT];
static uint32_t *place;
static struct node *built(uint32_t low, uint32_t high) {
    if (low == high)
        return NULL;
    uint32_t middle = low + (high - low) / 2;
    struct node *node = &nodes[place[middle]];
    node->key = middle;
    node->left = built(low, middle);
    node->right = built(middle + 1, high);
    return node;
}
static uint64_t walk(struct node *node) { return node ? walk(node->left) + node->key * 3 + walk(node->right) : 0; }
int main(void) {
    place = shuffled(COUNT);
#ifdef AFTER
    in_order(place, COUNT);
#endif
    struct node *root = built(0, COUNT);
    uint64_t sum = 0;
    for (int i = 0; i < WALKS; i++)
        sum += walk(root);
    print_sum(sum);
}
