#include "../size.h"
#include "machine.h"

struct node {
    struct value key; // NIL: free
    struct value value;
};

struct table {
    struct value *array; // keys 0 to array_size - 1
    size_t array_size, array_capacity;
    struct node *nodes; // open addressing
    size_t node_count, node_capacity;
};

struct table *new_table(void) { return allocate(1, sizeof(struct table)); }

void free_table(struct table *table) {
    free(table->array);
    free(table->nodes);
    free(table);
}

static uint64_t hash_of(struct value key) { return ((uint64_t)key.as.integer + key.type) * 0x9E3779B97F4A7C15u >> 24; }

static struct node *find_node(struct node *nodes, size_t capacity, struct value key) {
    size_t i = hash_of(key) & (capacity - 1);
    while (nodes[i].key.type != NIL && (nodes[i].key.type != key.type || nodes[i].key.as.integer != key.as.integer))
        i = (i + 1) & (capacity - 1);
    return &nodes[i];
}

static int in_array(const struct table *table, struct value key) {
    return key.type == INTEGER && (uint64_t)key.as.integer < table->array_size;
}

struct value table_get(const struct table *table, struct value key) {
    if (in_array(table, key))
        return table->array[key.as.integer];
    if (table->node_capacity == 0)
        return (struct value){.type = NIL};
    return find_node(table->nodes, table->node_capacity, key)->value;
}

static void append(struct table *table, struct value value) {
    if (table->array_size == table->array_capacity) {
        size_t capacity = table->array_capacity ? 2 * table->array_capacity : 8;
        struct value *array = realloc(table->array, capacity * sizeof *array);
        if (!array)
            abort();
        table->array = array;
        table->array_capacity = capacity;
    }
    table->array[table->array_size++] = value;
}

static void grow_nodes(struct table *table) {
    size_t capacity = table->node_capacity ? 2 * table->node_capacity : 8;
    struct node *nodes = allocate(capacity, sizeof *nodes);
    for (size_t i = 0; i < table->node_capacity; i++)
        if (table->nodes[i].key.type != NIL)
            *find_node(nodes, capacity, table->nodes[i].key) = table->nodes[i];
    free(table->nodes);
    table->nodes = nodes;
    table->node_capacity = capacity;
}

void table_set(struct table *table, struct value key, struct value value) {
    if (in_array(table, key)) {
        table->array[key.as.integer] = value;
    } else if (key.type == INTEGER && (uint64_t)key.as.integer == table->array_size) {
        append(table, value);
    } else {
        if (4 * (table->node_count + 1) > 3 * table->node_capacity)
            grow_nodes(table);
        struct node *node = find_node(table->nodes, table->node_capacity, key);
        table->node_count += node->key.type == NIL;
        *node = (struct node){key, value};
    }
}
