// A thread that counts has a node for each region within another that it enters, whose counters the compiled code adds
// to.
#ifndef TRACKWAY_COUNTING_H
#define TRACKWAY_COUNTING_H

#include "kernel.h"
#include "runtime.h"

#define NODES_OF_THREAD 1024
// Regions that a thread may be in at once. What it enters beyond them counts for the last of these.
#define DEPTH_OF_THREAD 256
// Regions of which entries may be passed over.
#define COUNTDOWNS 1024

struct node {
    struct lane lane;
    struct trackway_counts *counts;
    const char *name; // as the program gave it; equal names of two units may be two texts
    uint32_t group;
    uint32_t parent;
    uint32_t first_child; // 0: none
    uint32_t next_sibling;
    uint32_t told; // entries, of its first group
};

enum mode { NOT_TIMED, TIMED, COUNTED };

// A region that the thread is in.
struct stay {
    uint32_t outer;   // the node in which it was entered
    enum mode mode;   // of it and of what is entered within
    bool is_repeated; // it was in this region already: neither an entry nor time of its own
};

struct tally {
    uint32_t node_count;
    uint32_t current;
    uint32_t depth; // may exceed DEPTH_OF_THREAD
    bool whole;     // what is outside of regions is counted, too
    bool busy;      // a signal handler that comes now must not touch this
    uint32_t random;
    struct stay stays[DEPTH_OF_THREAD];
    struct node nodes[NODES_OF_THREAD];
    uint64_t countdowns[COUNTDOWNS]; // what the compiled code counts down
    uint64_t passed[COUNTDOWNS];     // from where
    uint32_t region_nodes[COUNTDOWNS];
};

// None: the thread hasn't begun, or can't count.
extern THREAD_LOCAL struct tally *__trackway_own_tally;

// count.c
// This thread's, begun; none if it can't count.
struct tally *__trackway_this_tally(void);

// nodes.c
// Then nothing outside of regions is counted.
bool __trackway_program_has_regions(void);
enum mode __trackway_present_mode(const struct tally *tally);
// Makes a node the present one.
void __trackway_go_to(struct tally *tally, uint32_t index);
// Without a free buffer the node stands for what isn't counted; the stream notes the loss.
uint32_t __trackway_add_node(struct tally *tally, struct stream *stream, const char *name, uint32_t group);
bool __trackway_is_same_name(const char *one, const char *other);
// The node that stands for the region if it is entered again: the present one, or the last one around it if there are
// two, lest recursion through several regions makes ever more nodes. 0: none.
uint32_t __trackway_find_around(const struct tally *tally, const char *name);
// The region's node within the present one, which is made if there is none.
uint32_t __trackway_node_within(struct tally *tally, const char *name, uint32_t group);
// Behind the last counter of a node.
const unsigned char *__trackway_end_of_counters(const struct node *node);

// entries.c
bool __trackway_counts_all(void);
// How the entry is dealt with, and how many of the next ones pass.
enum mode __trackway_mode_of_next(struct tally *tally, struct node *node, uint64_t *countdown);
// Of an entry that was just told of, where not all are counted.
uint32_t __trackway_group_of(const struct node *node, enum mode mode);
// Adds up the entries of a region that passed since the last one that was told of.
void __trackway_note_passed(struct tally *tally, uint64_t index);
void __trackway_begin_entry(struct node *node, enum mode mode);
void __trackway_end_entry(struct node *node, uint64_t now);
// What an entry of nothing, or a call, would seem to take.
uint64_t __trackway_cost_of_timing(void);
uint32_t __trackway_next_random(struct tally *tally);

#endif
