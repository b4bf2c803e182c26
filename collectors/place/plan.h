// What to place where: a file that `trackway place` writes and all processes of the program map. Little-endian.
#ifndef TRACKWAY_PLACE_PLAN_H
#define TRACKWAY_PLACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAGIC UINT64_C(0x4e414c5057540002) /* version 2 */

enum plan_kind { IN_FILE = 0, ON_NODES = 1, IN_MEMKIND_FOLDER = 2, IN_MEMKIND = 3 };

// Words of a mask of nodes: bit 0 of the first one is node 0.
enum { WORDS_OF_NODES = 16 };

// What was placed, of all processes.
struct plan_counters {
    uint64_t placed_blocks, placed_bytes;
    uint64_t most_live_bytes;         // of the process that held most
    uint64_t full_blocks, full_bytes; // that found no room and were left to the program's allocator
};

struct plan {
    uint64_t magic;
    uint32_t kind;
    uint32_t unused;
    uint64_t capacity;
    uint32_t first_parent; // its child places in the file itself, other processes in files of their own
    uint32_t object_count, chain_count, frame_count;
    uint32_t longest_chain;
    uint32_t unused_too;
    uint64_t objects; // where lists and texts stand, bytes from the beginning
    uint64_t chains;
    uint64_t frames;
    uint64_t place; // the path of the file or folder, the mask of nodes, or the name of memkind's variable for the kind
    struct plan_counters counters;
};

_Static_assert(offsetof(struct plan, counters) == 80 && sizeof(struct plan) == 120, "src/plan_file.rs writes it");

// Return addresses from the allocator's caller on. Chains are in the order of their first frames.
struct plan_chain {
    uint32_t first, count;
};

struct plan_frame {
    uint64_t offset;
    uint32_t object;
    uint32_t unused;
};

static inline bool is_memkind(const struct plan *plan) { return plan->kind >= IN_MEMKIND_FOLDER; }

// None: nothing is placed in this process.
extern struct plan *__trackway_plan;

static inline const void *in_plan(const struct plan *plan, uint64_t offset) { return (const char *)plan + offset; }

static inline const char *object_path(const struct plan *plan, uint32_t object) {
    return in_plan(plan, ((const uint64_t *)in_plan(plan, plan->objects))[object]);
}

static inline const struct plan_chain *plan_chains(const struct plan *plan) { return in_plan(plan, plan->chains); }
static inline const struct plan_frame *plan_frames(const struct plan *plan) { return in_plan(plan, plan->frames); }

// Ends the program: what was asked for can't be done.
_Noreturn void give_up(const char *what);

#endif
