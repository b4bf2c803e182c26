// Interpreters that translate their program into labels, as direct threaded code does: a call without a stack hands the
// labels out, and compares them. Arguments: how often to go around in the program; the interpreter: `own`, `distances`,
// `inside` for one whose labels stay inside; `recorded` if a window is open where the labels are handed out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __TRACKWAY__
#include <trackway.h>
#else
static void trackway_start(void) {}
static void trackway_stop(void) {}
#endif

enum { PUSH, ADD, DECREMENT, JUMP_IF, END, OPCODES };

struct instruction {
    const void *label;
    long operand;
    int opcode, distance;
};

static struct instruction *last; // as another call of the interpreter found it

static long run(struct instruction *program, long *stack) {
    static const void *const labels[OPCODES] = {&&push, &&add, &&decrement, &&jump_if, &&end};
    if (!stack) {
        for (struct instruction *at = program;; at++) {
            at->label = labels[at->opcode];
            if (at->label == &&end) {
                last = at;
                return 0;
            }
        }
    }
    struct instruction *at = program;
    long *top = stack;
    if (!at->label || last->label != &&end || last->label != labels[END])
        return -1;
    goto * at->label;
push:
    *++top = at->operand;
    goto * (++at)->label;
add:
    top[-1] += top[0];
    top--;
    goto * (++at)->label;
decrement:
    stack[0]--;
    goto * (++at)->label;
jump_if:
    at = stack[0] > 0 ? program + at->operand : at + 1;
    goto * at->label;
end:
    return top[0];
}

// As far from the first label as a constant says, or as is computed when the program runs.
static long run_by_distances(struct instruction *program, long *stack) {
    static const int distances[OPCODES] = {&&push - &&push, &&add - &&push, &&decrement - &&push, &&jump_if - &&push,
                                           &&end - &&push};
    static const void *const labels[OPCODES] = {&&push, &&add, &&decrement, &&jump_if, &&end};
    if (!stack) {
        for (struct instruction *at = program;; at++) {
            at->distance = distances[at->opcode];
            at->label = labels[at->opcode];
            if ((const char *)at->label - (const char *) && push != at->distance)
                return -1;
            if (at->opcode == END)
                return 0;
        }
    }
    struct instruction *at = program;
    long *top = stack;
    goto *(&&push + at->distance);
push:
    *++top = at->operand;
    goto *(&&push + (++at)->distance);
add:
    top[-1] += top[0];
    top--;
    goto *(&&push + (++at)->distance);
decrement:
    stack[0]--;
    goto *(&&push + (++at)->distance);
jump_if:
    at = stack[0] > 0 ? program + at->operand : at + 1;
    goto *(&&push + at->distance);
end:
    return top[0];
}

static long run_inside(struct instruction *program, long *stack) {
    static const void *const labels[OPCODES] = {&&push, &&add, &&decrement, &&jump_if, &&end};
    const struct instruction *at = program;
    long *top = stack;
    if (!stack)
        return 0;
    goto *labels[at->opcode];
push:
    *++top = at->operand;
    goto *labels[(++at)->opcode];
add:
    top[-1] += top[0];
    top--;
    goto *labels[(++at)->opcode];
decrement:
    stack[0]--;
    goto *labels[(++at)->opcode];
jump_if:
    at = stack[0] > 0 ? program + at->operand : at + 1;
    goto *labels[at->opcode];
end:
    return top[0];
}

static long interpret(const char *how, struct instruction *program, long *stack) {
    if (!strcmp(how, "inside"))
        return run_inside(program, stack);
    return !strcmp(how, "distances") ? run_by_distances(program, stack) : run(program, stack);
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    const char *how = argc > 2 ? argv[2] : "own";
    struct instruction program[] = {{0, 0, PUSH, 0},      {0, 3, PUSH, 0},    {0, 0, ADD, 0},
                                    {0, 0, DECREMENT, 0}, {0, 1, JUMP_IF, 0}, {0, 0, END, 0}};
    long stack[8];
    if (argc > 3 && !strcmp(argv[3], "recorded"))
        trackway_start();
    else
        trackway_stop();
    sum = interpret(how, program, NULL);
    for (int round = 0; round < 4; round++) {
        if (round % 2)
            trackway_start();
        else
            trackway_stop();
        stack[0] = rounds;
        sum += interpret(how, program, stack);
    }
    printf("%ld\n", sum);
    return 0;
}
