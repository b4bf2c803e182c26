// Nodes, and where the counters of modules lie in them.
#include "counting.h"

#include <sys/mman.h>

// Shared by all images of this process that fork left alike.
static uint64_t counters_placed;
static bool program_has_regions;

bool __trackway_program_has_regions(void) { return __atomic_load_n(&program_has_regions, __ATOMIC_RELAXED); }

// ---- Counters ----

// Counters that are never read, for threads that find no buffer.
static uint64_t *unread_counters(void) {
    static uint64_t *unread;
    uint64_t *present = __atomic_load_n(&unread, __ATOMIC_ACQUIRE);
    if (present)
        return present;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint64_t *made = mmap(NULL, __trackway_process.ring->buffer_size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (made == MAP_FAILED)
        __builtin_trap();
    if (__atomic_compare_exchange_n(&unread, &present, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, __trackway_process.ring->buffer_size);
    return present;
}

static uint64_t capacity(const struct trackway_ring *ring) {
    return (ring->buffer_size - sizeof(struct trackway_counts)) / sizeof(uint64_t);
}

bool __trackway_place_counters(struct trackway_module *module) {
    uint64_t first = __atomic_load_n(&counters_placed, __ATOMIC_RELAXED);
    do {
        if (module->counter_count > capacity(__trackway_process.ring) - first)
            return false;
    } while (!__atomic_compare_exchange_n(&counters_placed, &first, first + module->counter_count, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    module->counter_offset = first * sizeof(uint64_t);
    if (module->has_regions)
        __atomic_store_n(&program_has_regions, true, __ATOMIC_RELAXED);
    return true;
}

const unsigned char *__trackway_end_of_counters(const struct node *node) {
    uint64_t placed = __atomic_load_n(&counters_placed, __ATOMIC_RELAXED);
    return (const unsigned char *)(node->counts + 1) + placed * sizeof(uint64_t);
}

// ---- Nodes ----

enum mode __trackway_present_mode(const struct tally *tally) {
    uint32_t depth = tally->depth < DEPTH_OF_THREAD ? tally->depth : DEPTH_OF_THREAD;
    if (depth == 0)
        return tally->whole ? COUNTED : NOT_TIMED;
    return tally->stays[depth - 1].mode;
}

// Code that isn't to be counted counts in node 0, if at all, and the counts are never read there.
void __trackway_go_to(struct tally *tally, uint32_t index) {
    tally->current = index;
    bool counted = __trackway_present_mode(tally) == COUNTED && tally->nodes[index].counts;
    const struct node *node = &tally->nodes[counted ? index : 0];
    __trackway_counting.counters = node->counts ? (uint64_t)(node->counts + 1) : (uint64_t)unread_counters();
    __trackway_counting.state = counted ? TRACKWAY_COUNTS_NOW : TRACKWAY_COUNTS_NOT;
    __trackway_counting.open = tally->depth;
}

static void copy_name(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size - 1 && from[i]; i++)
        to[i] = from[i];
}

// The flags in a node's buffer that never change.
static uint64_t constant_flags(uint32_t group, const struct origin *inherited_from) {
    uint64_t flags = group << 8 | (TICKS_ARE_NANOSECONDS ? TRACKWAY_TICKS_ARE_NANOSECONDS : 0);
    if (inherited_from)
        flags |= TRACKWAY_INHERITED | (uint64_t)inherited_from->node << 16 | (uint64_t)inherited_from->stream << 32;
    return flags;
}

uint32_t __trackway_add_node(struct tally *tally, struct stream *stream, const char *name, uint32_t group,
                             const struct origin *inherited_from) {
    uint32_t index = tally->node_count++;
    struct node *node = &tally->nodes[index];
    *node = (struct node){.name = name, .group = group, .index = index, .parent = tally->current, .first = node};
    node->is_inherited = inherited_from;
    node->origin = inherited_from ? *inherited_from : (struct origin){stream->records.stream, index};
    node->lane = (struct lane){
        .kind = TRACKWAY_COUNTS, .stream = stream->records.stream, .sequence = stream->next_node++, .must_wait = true};
    struct room room = __trackway_take(&node->lane, stream);
    if (index != 0) {
        node->next_sibling = tally->nodes[tally->current].first_child;
        tally->nodes[tally->current].first_child = index;
    }
    if (!node->lane.buffer)
        return index;
    node->counts = (struct trackway_counts *)room.begin;
    node->counts->parent = tally->current;
    node->counts->thread = stream->tid;
    node->counts->image = __trackway_process.image;
    node->counts->flags = constant_flags(group, inherited_from);
    copy_name(node->counts->name, name, sizeof node->counts->name);
    __atomic_store_n(&node->counts->node, index, __ATOMIC_RELEASE);
    return index;
}

bool __trackway_is_same_name(const char *one, const char *other) {
    if (one == other)
        return true;
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

uint32_t __trackway_find_around(const struct tally *tally, const char *name) {
    uint32_t last = 0, times = 0, first = tally->nodes_at_start ? tally->nodes_at_start : 1;
    for (uint32_t index = tally->current; index >= first; index = tally->nodes[index].parent) {
        if (!__trackway_is_same_name(tally->nodes[index].name, name))
            continue;
        if (index == tally->current || ++times == 2)
            return last ? last : index;
        last = index;
    }
    return 0;
}

static bool is_from(const struct node *node, const struct origin *origin) {
    return node->origin.stream == origin->stream && node->origin.node == origin->node;
}

// Searches the nodes within the present one.
static uint32_t find_within(const struct tally *tally, const char *name, uint32_t group,
                            const struct origin *inherited_from) {
    uint32_t index = tally->nodes[tally->current].first_child;
    for (; index != 0; index = tally->nodes[index].next_sibling) {
        const struct node *node = &tally->nodes[index];
        if (node->group == group && __trackway_is_same_name(node->name, name) &&
            node->is_inherited == !!inherited_from && (!inherited_from || is_from(node, inherited_from)))
            break;
    }
    return index;
}

// Within the present node.
static uint32_t make(struct tally *tally, const char *name, uint32_t group, const struct origin *inherited_from) {
    uint64_t signals = block_signals();
    uint32_t index = __trackway_add_node(tally, __trackway_this_stream(), name, group, inherited_from);
    restore_signals(signals);
    return index;
}

static uint32_t find_or_make(struct tally *tally, const char *name, uint32_t group,
                             const struct origin *inherited_from) {
    uint32_t index = find_within(tally, name, group, inherited_from);
    if (index)
        return index;
    if (tally->node_count < NODES_OF_THREAD)
        return make(tally, name, group, inherited_from);
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        __trackway_complain("more than 1024 regions within each other: further ones count for those around them");
    return tally->current;
}

uint32_t __trackway_node_within(struct tally *tally, const char *name) { return find_or_make(tally, name, 0, NULL); }

uint32_t __trackway_inherited_node(struct tally *tally, const struct node *shared) {
    return find_or_make(tally, shared->name, shared->group, &shared->origin);
}

uint32_t __trackway_node_of_group(struct tally *tally, uint32_t first, uint32_t group) {
    const char *name = tally->nodes[first].name;
    uint32_t index = group ? find_within(tally, name, group, NULL) : first;
    if (!index) {
        if (tally->node_count >= NODES_OF_THREAD - NODES_FOR_REGIONS)
            return first;
        index = make(tally, name, group, NULL);
        tally->nodes[index].first = &tally->nodes[first];
    }
    return tally->nodes[index].counts ? index : first;
}
