// A binary search tree of malloc'ed nodes, built, walked and freed recursively.
#include "random.h"
#include "region.h"
#include "size.h"

enum { FULL_NODES = 700000, SMALL_NODES = 3000, KEYS_AT_A_TIME = 64 };

struct node {
    uint64_t key;
    struct node *left, *right;
};

static struct node *insert(struct node *root, uint64_t key) {
    if (!root) {
        struct node *leaf = allocate(1, sizeof *leaf);
        leaf->key = key;
        return leaf;
    }
    if (key < root->key)
        root->left = insert(root->left, key);
    else
        root->right = insert(root->right, key);
    return root;
}

static uint64_t sum_below(const struct node *root, unsigned depth) {
    if (!root)
        return depth;
    return (root->key & 0xFFFF) + sum_below(root->left, depth + 1) + sum_below(root->right, depth + 1);
}

static void free_tree(struct node *root) {
    if (!root)
        return;
    free_tree(root->left);
    free_tree(root->right);
    free(root);
}

int main(int argc, char **argv) {
    size_t n = size_argument(argc, argv, FULL_NODES, SMALL_NODES);
    uint64_t random = 3;
    struct node *root = NULL;
    for (size_t i = 0; i < n;) {
        TRACKWAY_REGION_BEGIN("build");
        for (size_t end = end_of_part(i, KEYS_AT_A_TIME, n); i < end; i++)
            root = insert(root, next_random(&random));
        TRACKWAY_REGION_END("build");
    }
    TRACKWAY_REGION_BEGIN("walk");
    uint64_t sum = sum_below(root, 0);
    TRACKWAY_REGION_END("walk");
    printf("tree nodes %zu sum %llu\n", n, (unsigned long long)sum);
    TRACKWAY_REGION_BEGIN("free");
    free_tree(root);
    TRACKWAY_REGION_END("free");
    return 0;
}
