// The instructions of a description, executed up to an address, and the row that they lead to as a rule.
#include "unwind_row.h"
#include "unwind_description.h"

enum { RBP = 6, RSP = 7, WORD = 8 };

// ---- Instructions --------------------------------------------------------------------------------------------------

// Where a register's value for the caller is.
struct place {
    enum { IN_REGISTER, BESIDE_CFA, AT_FRAME_POINTER, UNDEFINED, ELSEWHERE } kind;
    int64_t offset;
};

struct row {
    enum { IS_REGISTER, STANDS_AT_FRAME_POINTER, STANDS_ELSEWHERE } cfa;
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct place rbp, return_address;
};

enum { MOST_ROWS = 8 };

struct machine {
    const struct shared *shared;
    struct bytes instructions;
    struct row row, initial;
    struct row remembered[MOST_ROWS];
    unsigned remembered_count;
    uintptr_t location;
};

static void set_place(struct row *row, uint64_t number, struct place place) {
    if (number == RBP)
        row->rbp = place;
    else if (number == RETURN_ADDRESS)
        row->return_address = place;
}

static void restore_place(struct machine *machine, uint64_t number) {
    set_place(&machine->row, number, number == RBP ? machine->initial.rbp : machine->initial.return_address);
}

static int64_t scaled(const struct machine *machine, uint64_t offset) {
    return (int64_t)(offset * (uint64_t)machine->shared->data_factor);
}

static void advance(struct machine *machine, uint64_t distance) {
    machine->location += distance * machine->shared->code_factor;
}

static void set_cfa(struct row *row, uint64_t number, int64_t offset) {
    row->cfa = IS_REGISTER;
    row->cfa_register = number;
    row->cfa_offset = offset;
}

enum { OP_BREG_RBP = 0x76, OP_DEREF = 0x06 };

// Functions that align their stack keep the CFA at rbp + offset, in an expression of three parts.
static void take_cfa_expression(struct machine *machine) {
    uint64_t length = take_uleb(&machine->instructions);
    struct bytes expression = {.at = take_bytes(&machine->instructions, length)};
    if (!expression.at)
        return;
    expression.end = machine->instructions.at;
    bool is_by_rbp = take_unsigned(&expression, 1) == OP_BREG_RBP;
    machine->row.cfa_offset = take_sleb(&expression);
    bool is_read = take_unsigned(&expression, 1) == OP_DEREF;
    bool is_whole = !expression.has_failed && expression.at == expression.end;
    machine->row.cfa = is_by_rbp && is_read && is_whole ? STANDS_AT_FRAME_POINTER : STANDS_ELSEWHERE;
}

static void take_place_expression(struct machine *machine) {
    uint64_t number = take_uleb(&machine->instructions), length = take_uleb(&machine->instructions);
    const unsigned char *expression = take_bytes(&machine->instructions, length);
    struct place place = {ELSEWHERE, 0};
    if (expression && length == 2 && expression[0] == OP_BREG_RBP && expression[1] == 0)
        place.kind = AT_FRAME_POINTER;
    set_place(&machine->row, number, place);
}

static void set_saved(struct machine *machine, uint64_t number, int64_t offset) {
    set_place(&machine->row, number, (struct place){BESIDE_CFA, offset});
}

static void remember(struct machine *machine) {
    if (machine->remembered_count < MOST_ROWS)
        machine->remembered[machine->remembered_count++] = machine->row;
    else
        machine->instructions.has_failed = true;
}

static void restore(struct machine *machine) {
    if (machine->remembered_count > 0)
        machine->row = machine->remembered[--machine->remembered_count];
    else
        machine->instructions.has_failed = true;
}

// Instructions about where a register is saved; false: it is none of them.
static bool execute_place(struct machine *machine, uint64_t operation) {
    struct bytes *bytes = &machine->instructions;
    uint64_t number = 0;
    if ((operation >= 0x05 && operation <= 0x09) || operation == 0x11 || operation == 0x14 || operation == 0x15)
        number = take_uleb(bytes);
    switch (operation) {
    case 0x05: // DW_CFA_offset_extended
        set_saved(machine, number, scaled(machine, take_uleb(bytes)));
        return true;
    case 0x11: // DW_CFA_offset_extended_sf
        set_saved(machine, number, scaled(machine, (uint64_t)take_sleb(bytes)));
        return true;
    case 0x06: // DW_CFA_restore_extended
        restore_place(machine, number);
        return true;
    case 0x07: // DW_CFA_undefined
        set_place(&machine->row, number, (struct place){UNDEFINED, 0});
        return true;
    case 0x08: // DW_CFA_same_value
        set_place(&machine->row, number, (struct place){IN_REGISTER, 0});
        return true;
    case 0x09: // DW_CFA_register
    case 0x14: // DW_CFA_val_offset
    case 0x15: // DW_CFA_val_offset_sf
        take_uleb(bytes);
        set_place(&machine->row, number, (struct place){ELSEWHERE, 0});
        return true;
    case 0x10: // DW_CFA_expression
        take_place_expression(machine);
        return true;
    case 0x16: // DW_CFA_val_expression
        set_place(&machine->row, take_uleb(bytes), (struct place){ELSEWHERE, 0});
        take_bytes(bytes, take_uleb(bytes));
        return true;
    default:
        return false;
    }
}

// Instructions about the CFA; false: it is none of them.
static bool execute_cfa(struct machine *machine, uint64_t operation) {
    struct bytes *bytes = &machine->instructions;
    struct row *row = &machine->row;
    uint64_t number;
    switch (operation) {
    case 0x0C: // DW_CFA_def_cfa
        number = take_uleb(bytes);
        set_cfa(row, number, (int64_t)take_uleb(bytes));
        return true;
    case 0x12: // DW_CFA_def_cfa_sf
        number = take_uleb(bytes);
        set_cfa(row, number, scaled(machine, (uint64_t)take_sleb(bytes)));
        return true;
    case 0x0D: // DW_CFA_def_cfa_register
        row->cfa_register = take_uleb(bytes);
        return true;
    case 0x0E: // DW_CFA_def_cfa_offset
        row->cfa_offset = (int64_t)take_uleb(bytes);
        return true;
    case 0x13: // DW_CFA_def_cfa_offset_sf
        row->cfa_offset = scaled(machine, (uint64_t)take_sleb(bytes));
        return true;
    case 0x0F: // DW_CFA_def_cfa_expression
        take_cfa_expression(machine);
        return true;
    default:
        return false;
    }
}

static void execute_rest(struct machine *machine, uint64_t operation) {
    struct bytes *bytes = &machine->instructions;
    if (operation == 0x00) // DW_CFA_nop
        return;
    if (operation == 0x01) // DW_CFA_set_loc
        machine->location = take_pointer(bytes, machine->shared->encoding);
    else if (operation >= 0x02 && operation <= 0x04) // DW_CFA_advance_loc1, 2, 4
        advance(machine, take_unsigned(bytes, 1u << (operation - 0x02)));
    else if (operation == 0x0A) // DW_CFA_remember_state
        remember(machine);
    else if (operation == 0x0B) // DW_CFA_restore_state
        restore(machine);
    else if (operation == 0x2E) // DW_CFA_GNU_args_size
        take_uleb(bytes);
    else
        bytes->has_failed = true;
}

static void execute(struct machine *machine) {
    uint64_t operation = take_unsigned(&machine->instructions, 1), operand = operation & 0x3F;
    switch (operation >> 6) {
    case 1: // DW_CFA_advance_loc
        advance(machine, operand);
        break;
    case 2: // DW_CFA_offset
        set_saved(machine, operand, scaled(machine, take_uleb(&machine->instructions)));
        break;
    case 3: // DW_CFA_restore
        restore_place(machine, operand);
        break;
    default:
        if (!execute_place(machine, operation) && !execute_cfa(machine, operation))
            execute_rest(machine, operation);
    }
}

// Executes what leads to the row of the code; false if the instructions make no sense.
static bool execute_until(struct machine *machine, struct bytes instructions, uintptr_t code) {
    machine->instructions = instructions;
    while (machine->instructions.at < machine->instructions.end && !machine->instructions.has_failed) {
        execute(machine);
        if (machine->location > code)
            break;
    }
    return !machine->instructions.has_failed;
}

// ---- Rules ---------------------------------------------------------------------------------------------------------

// The number of words, if it is one that a rule can hold.
static bool in_words(uint64_t bytes, uint64_t most, uint32_t *words) {
    *words = (uint32_t)(bytes / WORD);
    return bytes > 0 && bytes % WORD == 0 && bytes / WORD <= most;
}

static uint32_t saved_in(const struct row *row) {
    uint32_t words;
    if (row->rbp.kind == IN_REGISTER)
        return SAVED_NOWHERE;
    if (row->rbp.kind == BESIDE_CFA && in_words(-(uint64_t)row->rbp.offset, SAVED_LOST - 1, &words))
        return words;
    return SAVED_LOST;
}

static rule realigned(const struct row *row) {
    uint32_t distance;
    if (row->rbp.kind != AT_FRAME_POINTER || !in_words(-(uint64_t)row->cfa_offset, MOST_DISTANCE, &distance))
        return UNKNOWN_CALLER;
    return make_rule(REALIGNED, distance, SAVED_NOWHERE);
}

static rule rule_of(const struct row *row) {
    uint32_t distance;
    if (row->return_address.kind == UNDEFINED)
        return OUTERMOST_FUNCTION;
    if (row->return_address.kind != BESIDE_CFA || row->return_address.offset != -WORD)
        return UNKNOWN_CALLER;
    if (row->cfa == STANDS_AT_FRAME_POINTER)
        return realigned(row);
    bool is_known = row->cfa == IS_REGISTER && (row->cfa_register == RSP || row->cfa_register == RBP);
    if (!is_known || !in_words((uint64_t)row->cfa_offset, MOST_DISTANCE, &distance))
        return UNKNOWN_CALLER;
    enum rule_kind kind = row->cfa_register == RSP ? FROM_STACK_POINTER : FROM_FRAME_POINTER;
    return make_rule(kind, distance, saved_in(row));
}

rule find_rule(const struct segment *segment, const unsigned char *header, uintptr_t code) {
    struct description description;
    enum finding finding = find_description(segment, header, code, &description);
    if (finding != FOUND)
        return finding == NOT_DESCRIBED ? FRAME_POINTERS : UNKNOWN_CALLER;
    struct machine machine = {.shared = &description.shared};
    if (!execute_until(&machine, description.shared.instructions, UINTPTR_MAX))
        return UNKNOWN_CALLER;
    machine.initial = machine.row;
    machine.location = description.low;
    if (!execute_until(&machine, description.instructions, code))
        return UNKNOWN_CALLER;
    // The kernel's context is described by expressions, and always the same.
    if (description.shared.is_signal_return && machine.row.cfa == STANDS_ELSEWHERE)
        return SIGNAL_RETURN;
    return rule_of(&machine.row);
}
