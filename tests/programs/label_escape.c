// An interpreter that translates its program into labels, as direct threaded code does: a call with no stack hands them
// out. Arguments: how often to go around in the program, and `inside` for a function whose labels stay inside.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __TRACKWAY__
#include <trackway.h>
#endif

enum { PUSH, ADD, DECREMENT, JUMP_IF, END, OPCODES };

struct instruction {
    const void *label;
    long operand;
    int opcode;
};

static long run(struct instruction *program, long *stack) {
    static const void *const labels[OPCODES] = {&&push, &&add, &&decrement, &&jump_if, &&end};
    if (!stack) {
        for (struct instruction *at = program;; at++) {
            at->label = labels[at->opcode];
            if (at->opcode == END)
                return 0;
        }
    }
    struct instruction *at = program;
    long *top = stack;
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

static long run_inside(const struct instruction *at, const struct instruction *program, long *stack) {
    static const void *const labels[OPCODES] = {&&push, &&add, &&decrement, &&jump_if, &&end};
    long *top = stack;
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

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    int is_inside = argc > 2 && !strcmp(argv[2], "inside");
    struct instruction program[] = {{0, 0, PUSH},      {0, 3, PUSH},    {0, 0, ADD},
                                    {0, 0, DECREMENT}, {0, 1, JUMP_IF}, {0, 0, END}};
    long stack[8];
#ifdef __TRACKWAY__
    trackway_stop(); // labels are handed out where nothing is recorded
#endif
    run(program, NULL);
    for (int round = 0; round < 4; round++) {
#ifdef __TRACKWAY__
        if (round % 2)
            trackway_start();
        else
            trackway_stop();
#endif
        stack[0] = rounds;
        sum += is_inside ? run_inside(program, program, stack) : run(program, stack);
    }
    printf("%ld\n", sum);
    return 0;
}
