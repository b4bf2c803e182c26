// A register machine for a small dynamically typed language, after the Lua virtual machine: tagged values, tables with
// an array and a hash part, calls with register windows.
#ifndef WORKLOADS_INTERPRETER_MACHINE_H
#define WORKLOADS_INTERPRETER_MACHINE_H

#include <stddef.h>
#include <stdint.h>

enum type { NIL, INTEGER, NUMBER, TABLE };

struct table;

struct value {
    enum type type;
    union {
        int64_t integer;
        double number;
        struct table *table;
    } as;
};

enum opcode {
    LOAD,      // R[a] = integer b
    MOVE,      // R[a] = R[b]
    ADD,       // R[a] = R[b] + R[c]; so do the next ones
    SUBTRACT,  //
    MULTIPLY,  //
    REMAINDER, //
    TO_NUMBER, // R[a] = R[b] as a number
    LESS,      // R[a] = R[b] < R[c]
    JUMP,      // by b instructions, counted from the next one; so do the next ones
    UNLESS,    // jump when R[a] is 0
    LOOP,      // R[a]++; jump while R[a] < R[c]
    NEW_TABLE, // R[a] = {}
    GET,       // R[a] = R[b][R[c]]
    SET,       // R[a][R[b]] = R[c]
    CALL,      // call function b; its register 0 is this function's register a, where the result arrives
    RETURN,    // return R[a]
};

struct instruction {
    uint8_t opcode;
    uint8_t a;
    int16_t b, c;
};

struct function {
    const char *name;
    const struct instruction *code;
};

struct table *new_table(void);
void free_table(struct table *table);
struct value table_get(const struct table *table, struct value key);
void table_set(struct table *table, struct value key, struct value value);

// Runs function `entry` with one argument.
struct value run(const struct function *functions, int entry, struct value argument);

#endif
