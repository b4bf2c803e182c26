#include "../size.h"
#include "machine.h"

#include <setjmp.h>

enum { REGISTERS = 4096, CALL_DEPTH = 256 };

struct frame {
    const struct instruction *return_to;
    struct value *registers;
};

struct state {
    struct value registers[REGISTERS];
    struct frame frames[CALL_DEPTH];
    jmp_buf on_error;
    const char *error;
};

static void raise_error(struct state *state, const char *error) {
    state->error = error;
    longjmp(state->on_error, 1);
}

static double as_number(const struct value *value) {
    return value->type == INTEGER ? (double)value->as.integer : value->as.number;
}

static struct value arithmetic(struct state *state, int opcode, const struct value *left, const struct value *right) {
    if (left->type == INTEGER && right->type == INTEGER) {
        int64_t x = left->as.integer, y = right->as.integer;
        if (opcode == REMAINDER && y == 0)
            raise_error(state, "remainder by zero");
        int64_t result = opcode == ADD ? x + y : opcode == SUBTRACT ? x - y : opcode == MULTIPLY ? x * y : x % y;
        return (struct value){.type = INTEGER, .as.integer = result};
    }
    if (left->type == NIL || right->type == NIL || left->type == TABLE || right->type == TABLE || opcode == REMAINDER)
        raise_error(state, "arithmetic on something that is no number");
    double x = as_number(left), y = as_number(right);
    double result = opcode == ADD ? x + y : opcode == SUBTRACT ? x - y : x * y;
    return (struct value){.type = NUMBER, .as.number = result};
}

static struct table *table_in(struct state *state, const struct value *value) {
    if (value->type != TABLE)
        raise_error(state, "index of something that is no table");
    return value->as.table;
}

static struct value interpret(struct state *state, const struct function *functions, int entry) {
    struct value *registers = state->registers;
    struct frame *frame = state->frames;
    const struct instruction *code = functions[entry].code;
    frame->return_to = NULL;
    for (;;) {
        struct instruction now = *code++;
        struct value *a = &registers[now.a];
        switch (now.opcode) {
        case LOAD:
            *a = (struct value){.type = INTEGER, .as.integer = now.b};
            break;
        case MOVE:
            *a = registers[now.b];
            break;
        case ADD:
        case SUBTRACT:
        case MULTIPLY:
        case REMAINDER:
            *a = arithmetic(state, now.opcode, &registers[now.b], &registers[now.c]);
            break;
        case TO_NUMBER:
            *a = (struct value){.type = NUMBER, .as.number = as_number(&registers[now.b])};
            break;
        case LESS: {
            int64_t less = as_number(&registers[now.b]) < as_number(&registers[now.c]);
            *a = (struct value){.type = INTEGER, .as.integer = less};
            break;
        }
        case JUMP:
            code += now.b;
            break;
        case UNLESS:
            if (a->as.integer == 0)
                code += now.b;
            break;
        case LOOP:
            if (++a->as.integer < registers[now.c].as.integer)
                code += now.b;
            break;
        case NEW_TABLE:
            *a = (struct value){.type = TABLE, .as.table = new_table()};
            break;
        case GET:
            *a = table_get(table_in(state, &registers[now.b]), registers[now.c]);
            break;
        case SET:
            table_set(table_in(state, a), registers[now.b], registers[now.c]);
            break;
        case CALL:
            if (frame + 1 == state->frames + CALL_DEPTH)
                raise_error(state, "too many calls");
            frame++;
            frame->return_to = code;
            frame->registers = registers;
            registers = a;
            code = functions[now.b].code;
            break;
        case RETURN:
            registers[0] = *a;
            if (!frame->return_to)
                return registers[0];
            code = frame->return_to;
            registers = frame->registers;
            frame--;
            break;
        default:
            raise_error(state, "unknown instruction");
        }
    }
}

struct value run(const struct function *functions, int entry, struct value argument) {
    struct state *state = allocate(1, sizeof *state);
    if (setjmp(state->on_error)) {
        fprintf(stderr, "interpreter: %s\n", state->error);
        exit(1);
    }
    state->registers[0] = argument;
    struct value result = interpret(state, functions, entry);
    free(state);
    return result;
}
