// What the client tells the recorder of code, in buffers of kind TRACKWAY_DEFINITIONS: one definition after another,
// each a multiple of 8 bytes long. Zeros, or the end of the buffer, end them. All words are little-endian.
#ifndef TRACKWAY_DEFINITIONS_H
#define TRACKWAY_DEFINITIONS_H

#include <stdint.h>

enum trackway_definition_kind {
    TRACKWAY_OBJECT = 1,
    TRACKWAY_BLOCK = 2,
    TRACKWAY_NOTE = 3,
};

struct trackway_definition {
    uint32_t length; // bytes, with this
    uint32_t kind;
};

// A file of code, before its first block. Numbers are a process image's own; a forked process tells again.
struct trackway_object {
    struct trackway_definition head;
    uint32_t number;
    uint32_t path_length;
    uint64_t base; // address of offset 0
    uint64_t size; // bytes that it spans; 0: unknown
    char path[];   // "[anonymous]" for code from no file
};

// A basic block. Its record is u32 id << 8 and so many roots of 8 bytes. After it stand its instructions, each
// followed by its accesses. If the block repeats, the last root says how often it was executed again, and for each of
// the others an int64_t follows: by how much the root differs each time.
struct trackway_block {
    struct trackway_definition head;
    uint32_t id;
    uint32_t object;
    uint32_t roots;
    uint32_t instructions;
    uint32_t repeats;
    uint32_t reserved;
};

struct trackway_instruction {
    uint64_t address;
    uint64_t target; // 0: none is known
    uint8_t length;
    uint8_t kind; // of docs/format.md, section 2, list 13
    uint16_t accesses;
    uint32_t reserved;
};

enum trackway_access_form {
    TRACKWAY_PLAIN = 0,
    // Repeated as often as root `first` says, at addresses that differ by `size` times the content of root `first` + 1.
    // Several of one instruction take turns.
    TRACKWAY_REPEATED = 1,
    // Those of `lanes` lanes whose bits are set in root `first`, at the addresses in the roots after it.
    TRACKWAY_GATHERED = 2,
    // Those of `lanes` elements of `size` bytes in a row whose bits are set in root `first`.
    TRACKWAY_MASKED = 3,
};

enum { TRACKWAY_MOST_TERMS = 2, TRACKWAY_FS_BASE = 0xfffe, TRACKWAY_GS_BASE = 0xffff };

// An address is `constant` + the sum of root × scale over its terms; the thread's segment bases count as roots.
struct trackway_access {
    int64_t constant;
    uint32_t size;
    uint8_t writes;
    uint8_t form;
    uint8_t lanes;
    uint8_t terms;
    uint16_t first;
    uint16_t root[TRACKWAY_MOST_TERMS];
    int8_t scale[TRACKWAY_MOST_TERMS];
};

enum trackway_note_kind {
    TRACKWAY_SEGMENT_BASES = 0, // roots: of fs, of gs
    TRACKWAY_ALLOCATED = 1,     // address, bytes
    TRACKWAY_FREED = 2,         // address
    TRACKWAY_REALLOCATED = 3,   // old address, new address, bytes
};

// What the thread did beside its blocks: the meaning of an id whose record the client writes itself.
struct trackway_note {
    struct trackway_definition head;
    uint32_t id;
    uint32_t kind;
    uint32_t object;
    uint32_t reserved;
    uint64_t address;   // of the call of the allocator, of allocations
    char allocator[24]; // its name
};

#endif
