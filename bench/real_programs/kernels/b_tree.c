// A B-tree of keys and values: filled in random order, searched, and read in ranges.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16, MOST = 2 * LEAST - 1 };

typedef struct Node {
    uint32_t keys[MOST];
    uint32_t values[MOST];
    struct Node *children[MOST + 1];
    int count;
    bool is_leaf;
} Node;

static Node *make_node(bool is_leaf) {
    Node *node = calloc(1, sizeof *node);
    node->is_leaf = is_leaf;
    return node;
}

static int place_of(const Node *node, uint32_t key) {
    int low = 0, high = node->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (node->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Splits the full child at a place, whose middle key comes up.
static void split(Node *parent, int place) {
    Node *left = parent->children[place], *right = make_node(left->is_leaf);
    right->count = LEAST - 1;
    memcpy(right->keys, left->keys + LEAST, (LEAST - 1) * sizeof *left->keys);
    memcpy(right->values, left->values + LEAST, (LEAST - 1) * sizeof *left->values);
    if (!left->is_leaf)
        memcpy(right->children, left->children + LEAST, LEAST * sizeof *left->children);
    left->count = LEAST - 1;
    int behind = parent->count - place;
    memmove(parent->keys + place + 1, parent->keys + place, (size_t)behind * sizeof *parent->keys);
    memmove(parent->values + place + 1, parent->values + place, (size_t)behind * sizeof *parent->values);
    memmove(parent->children + place + 2, parent->children + place + 1, (size_t)behind * sizeof *parent->children);
    parent->keys[place] = left->keys[LEAST - 1];
    parent->values[place] = left->values[LEAST - 1];
    parent->children[place + 1] = right;
    parent->count++;
}

static void insert(Node **root, uint32_t key, uint32_t value) {
    if ((*root)->count == MOST) {
        Node *above = make_node(false);
        above->children[0] = *root;
        split(above, 0);
        *root = above;
    }
    Node *node = *root;
    for (;;) {
        int place = place_of(node, key);
        if (place < node->count && node->keys[place] == key) {
            node->values[place] = value;
            return;
        }
        if (node->is_leaf) {
            size_t behind = (size_t)(node->count - place);
            memmove(node->keys + place + 1, node->keys + place, behind * sizeof *node->keys);
            memmove(node->values + place + 1, node->values + place, behind * sizeof *node->values);
            node->keys[place] = key;
            node->values[place] = value;
            node->count++;
            return;
        }
        if (node->children[place]->count == MOST)
            split(node, place);
        else
            node = node->children[place];
    }
}

static const uint32_t *find(const Node *node, uint32_t key) {
    for (;;) {
        int place = place_of(node, key);
        if (place < node->count && node->keys[place] == key)
            return &node->values[place];
        if (node->is_leaf)
            return NULL;
        node = node->children[place];
    }
}

static uint64_t sum_of_range(const Node *node, uint32_t low, uint32_t high) {
    uint64_t sum = 0;
    int place = place_of(node, low);
    for (; place < node->count && node->keys[place] <= high; place++) {
        if (!node->is_leaf)
            sum += sum_of_range(node->children[place], low, high);
        sum += node->values[place];
    }
    return node->is_leaf ? sum : sum + sum_of_range(node->children[place], low, high);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    uint32_t count = (uint32_t)atoi(argv[1]), state = 1, found = 0;
    Node *root = make_node(true);
    for (uint32_t i = 0; i < count; i++)
        insert(&root, (state = state * 1664525u + 1013904223u) >> 4, i);
    for (uint32_t i = 0; i < 2 * count; i++)
        found += find(root, (state = state * 1664525u + 1013904223u) >> 4) != NULL;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count / 10; i++) {
        uint32_t low = (state = state * 1664525u + 1013904223u) >> 4;
        sum += sum_of_range(root, low, low + 100000);
    }
    printf("b_tree %u %llu\n", found, (unsigned long long)sum);
    return 0;
}
