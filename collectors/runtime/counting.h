// A thread that counts has a node for each region within another that it enters, whose counters the compiled code adds
// to.
#ifndef TRACKWAY_COUNTING_H
#define TRACKWAY_COUNTING_H

#include "kernel.h"
#include "runtime.h"

#define NODES_OF_THREAD 1024
// Nodes reserved from sampling groups.
#define NODES_FOR_REGIONS 256
// Regions that a thread may be in at once. What it enters beyond them counts for the last of these.
#define DEPTH_OF_THREAD 256
// Regions of which entries may be passed over.
#define COUNTDOWNS 1024
// The group of the first entries, if not all are counted: they say little of the later ones.
#define FIRST_GROUP 255

// What a thread's hardware counters say at a moment.
struct reading {
    uint64_t values[TRACKWAY_HARDWARE_EVENTS];
    uint64_t missed_ns; // of the thread's running time, in which they did not count
};

enum mode { NOT_TIMED, TIMED, COUNTED };

struct spent {
    uint64_t entries, ticks;
    uint64_t longest; // ticks of the longest entry, in which the thread may have lost its core
};

// How entries of a region within others are sampled, if not all of them are counted.
struct sampling {
    uint32_t told; // entries that were reported to the runtime
    uint32_t rate; // of the later ones, one in 2^rate is counted
    // What the entries after the first ones took:
    struct spent counted, timed;
};

// How an entry is treated.
struct choice {
    enum mode mode;
    uint32_t group;
    uint64_t passing;       // so many next ones pass without a word
    uint32_t passing_group; // and are entries of this group
};

// The node by whose entries the region is open: of the thread that entered it.
struct origin {
    uint32_t stream;
    uint32_t node;
};

struct node {
    struct lane lane;
    struct trackway_counts *counts;
    const char *name; // as the program gave it; equal names of two units may be two texts
    uint32_t group;
    uint32_t index;
    uint32_t parent;
    struct origin origin;
    bool is_inherited;    // perhaps from another node of this thread, by a task
    uint32_t first_child; // 0: none
    uint32_t next_sibling;
    struct node *first; // of group 0, which has the sampling of all groups
    struct sampling sampling;
    uint64_t measurable;  // entries around which the hardware counters might be read
    uint64_t since;       // those of them since the last one around which they were
    uint32_t to_pass;     // those that follow around which they aren't
    bool is_measured;     // they were read as the present entry began:
    struct reading begin; // so
};

// A region that the thread is in.
struct stay {
    uint32_t outer;       // the node in which it was entered
    enum mode mode;       // of it and of what is entered within
    bool is_repeated;     // it was in this region already: neither an entry nor time of its own
    bool may_be_measured; // by the hardware counters
};

enum hardware_state { NOT_TRIED, OPEN, UNAVAILABLE };

// A thread's counters of the ring's hardware events.
struct hardware {
    enum hardware_state state;
    int descriptors[TRACKWAY_HARDWARE_EVENTS];     // -1: none is needed
    void *pages[TRACKWAY_HARDWARE_EVENTS];         // struct perf_event_mmap_page; or none
    uint64_t ids[TRACKWAY_HARDWARE_EVENTS];        // the kernel's
    uint64_t cost_ticks;                           // of a reading
    uint64_t of_nothing[TRACKWAY_HARDWARE_EVENTS]; // what is counted between two readings in a row
};

struct tally {
    uint32_t node_count;
    uint32_t current;
    uint32_t depth; // may exceed DEPTH_OF_THREAD
    bool whole;     // what is outside of regions is counted, too
    bool busy;      // a signal handler that comes now must not touch this
    bool forks_team;
    uint32_t nodes_at_start; // the first ones are of regions that the thread inherited when it was created
    uint32_t random;
    struct hardware hardware;
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
// Without a free buffer the node stands for what isn't counted; the stream notes the loss. Of an inherited region's
// node the origin is given.
uint32_t __trackway_add_node(struct tally *tally, struct stream *stream, const char *name, uint32_t group,
                             const struct origin *inherited_from);
bool __trackway_is_same_name(const char *one, const char *other);
// The node that stands for the region if it is entered again: the present one, or the last one around it if there are
// two. So recursion through several regions makes no more nodes. 0: none. Nodes that the thread inherited when it
// was created stand for none: what it enters itself is an entry.
uint32_t __trackway_find_around(const struct tally *tally, const char *name);
// The region's node within the present one, which is made if there is none.
uint32_t __trackway_node_within(struct tally *tally, const char *name);
// The node within the present one of a region that another thread shares; the present one if there is no room for it.
uint32_t __trackway_inherited_node(struct tally *tally, const struct node *shared);
// The node of another group than the first node's; the first one if there is no room for it.
uint32_t __trackway_node_of_group(struct tally *tally, uint32_t first, uint32_t group);
// After the last counter of a node.
const unsigned char *__trackway_end_of_counters(const struct node *node);

// regions.c
// The thread is in that node until the stay is left. Ends what the runtime has to do: what comes after is timed.
void __trackway_begin_stay(struct tally *tally, uint32_t node, const struct stay *stay);

// entries.c
bool __trackway_counts_all(void);
// Whether hardware counters may be read around an entry outside of all others.
bool __trackway_may_be_measured(enum mode mode, uint32_t group);
struct choice __trackway_choose(struct tally *tally, struct node *first);
// Adds up the entries of a region that passed since the last reported one.
void __trackway_note_passed(struct tally *tally, uint64_t index);
void __trackway_begin_entry(struct node *node, enum mode mode);
void __trackway_end_entry(struct node *node, uint64_t now);
// Times nothing, so many times. What else the machine does may make all trials of one moment too long, so they are
// spread over the run.
void __trackway_try_timing(unsigned trials);
// The time that an empty entry, or a call, would seem to take: the least of all trials so far.
uint64_t __trackway_cost_of_timing(void);
// Adds so many times what was timed, without the cost. That may be more, where the clock ticks seldom: so the sum may
// fall.
void __trackway_add_time(uint64_t *sum, uint64_t ticks, uint64_t times);
uint32_t __trackway_next_random(struct tally *tally);

// hardware.c
// Reads the thread's counters for an entry that is about to be timed, unless its turn hasn't come.
void __trackway_begin_measuring(struct tally *tally, struct node *node);
// Ends the measurement of an entry that was left.
void __trackway_end_measuring(struct tally *tally, struct node *node);
void __trackway_close_hardware(struct hardware *hardware);
// Called in a forked process, which has its parent's descriptors.
void __trackway_forget_hardware(struct hardware *hardware);

#endif
