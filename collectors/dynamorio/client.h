// What the parts of the client share.
#ifndef TRACKWAY_CLIENT_H
#define TRACKWAY_CLIENT_H

#include "plan.h"
#include "ring.h"

// A thread's slots, in memory that code reaches without a register: see slot_operand.
enum slot {
    SLOT_CURSOR,          // where the next record begins
    SLOT_LIMIT,           // a record that ends past it was the buffer's last
    SLOT_RETURN,          // where the code goes on that asked for another buffer
    SLOT_REPEATED_CURSOR, // while the cursor is there, the last record is one of a block that repeats,
    SLOT_REPEATED_ID,     // of this one
    SLOT_HELD,            // the program's value of the register that holds the cursor
    SLOTS,
};

// A call of an allocator that is under way.
struct allocation {
    uint32_t depth; // of calls within each other
    app_pc call;
    uint64_t old, size, result;
};

struct thread_state {
    struct stream stream;
    struct process process; // of a child of vfork, which shares its parent's memory
    uint64_t *slots;
    uint64_t segment_bases[2]; // as the buffer knows them
    uint32_t window;           // that was open when the buffer was taken; 0: none, and what is recorded goes nowhere
    unsigned char *scratch;    // where records go that nobody reads; none yet
    struct allocation allocation;
    bool checks_alignment; // as far as the program knows
    struct plan plan;
};

// process.c
bool attach_process(void);
struct thread_state *state_of(void *context);
opnd_t slot_operand(void *context, enum slot slot);
void begin_thread(void *context);
void end_thread(void *context);
void become_child(void *context);
void before_system_call(void *context, int number);
void after_system_call(void *context, int number);
void end_process(void);
// Stores a record of a note, between those of blocks.
void put_note(struct thread_state *state, uint32_t id, const uint64_t *roots, uint32_t count);
// Hands over the thread's buffer and begins another one with the record that is being stored.
void next_buffer(void);

// The id of the record that is being stored; 0: none is.
uint32_t id_at_cursor(const struct thread_state *state);
// Ends the record that is being stored, under this id, after so many of its roots.
void end_cut_record(struct thread_state *state, uint32_t id, uint32_t roots);
void forget_record(struct thread_state *state);
// The id of the last record if that is of a block that repeats, and nothing was recorded since; else 0.
uint32_t repeated_id(const struct thread_state *state);
// Takes the last execution out of that record, and puts the first `count` of what its `roots` were then at the cursor.
void take_back_repetition(struct thread_state *state, const struct plan *repeated, uint32_t count);

// definitions.c
void begin_definitions(void);
void note_module(const module_data_t *module, bool loaded);
// Gives the plan's block and its exits ids, and sends what is new of their definitions. False: there are no more ids.
bool define_block(struct plan *plan);
// Where its first instruction is; none for an id that is no block's.
app_pc start_of_block(uint32_t id);
// `call` and `allocator` of allocations, else none.
uint32_t define_note(enum trackway_note_kind kind, app_pc call, const char *allocator);
// Everything that is defined so far reaches the recorder before what is handed over from now on.
void hand_over_definitions(void);
// A forked process describes its own code.
void forget_definitions(void);

// superblock.c
void begin_superblocks(void);
void end_superblocks(void);
// What is mapped there changes.
void forget_memory(app_pc start, size_t length);
void extend_block(void *context, instrlist_t *block);
// The block that begins there, as it is recorded.
instrlist_t *decode_block(void *context, app_pc start);
dr_emit_flags_t extend_new_block(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating);
// Takes jumps out whose targets stand next.
dr_emit_flags_t leave_out_jumps(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating);

// insert.c
void begin_inserting(void);
void end_inserting(void);
dr_emit_flags_t analyse_block(void *context, void *tag, instrlist_t *block, bool for_trace, bool translating,
                              void **data);
dr_emit_flags_t insert_stores(void *context, void *tag, instrlist_t *block, instr_t *where, bool for_trace,
                              bool translating, void *data);

// allocations.c
void begin_allocations(void);
void end_allocations(void);
void watch_allocators(const module_data_t *module);
void unwatch_allocators(const module_data_t *module);
// An allocator begins there.
bool is_watched(app_pc code);

// fault.c
dr_signal_action_t signal_comes(void *context, dr_siginfo_t *signal);

// segments_*.c
// Bases of the thread's segments fs and gs; 0 where there are none.
void read_segment_bases(uint64_t bases[2]);
bool changes_segment_bases(int system_call);

// alignment_x86.c: inserts what keeps the flag off, where the instruction may change or show it.
void keep_alignment_unchecked(void *context, instrlist_t *block, instr_t *instruction);

// precomputed_roots_*.c: stores what `told` (struct told, as two words) asks for.
void tell(uint64_t first, uint64_t second);

#endif
