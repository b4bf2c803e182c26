// Finds how far a thread's stack reaches.
#include "kernel.h"
#include "stack_walk.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

// Within a stack's limit there can be no other memory, but without a limit anything may be there.
#define MOST_STACK (UINT64_C(1) << 30)

// The address at which the main thread found its arguments on the stack when it began.
extern void *__libc_stack_end;

struct mapping {
    uintptr_t low, high;
};

// Follows "LOW-HIGH MODE ...\n", a character at a time.
struct reader {
    struct mapping mapping;
    int field; // 0: low, 1: high, 2: the rest of the line
};

static uintptr_t with_digit(uintptr_t number, char digit) {
    return number * 16 + (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// True at the end of a line.
static bool take(struct reader *reader, char character) {
    if (character == '\n')
        return true;
    if (reader->field == 0 && character != '-')
        reader->mapping.low = with_digit(reader->mapping.low, character);
    else if (reader->field == 1 && character != ' ')
        reader->mapping.high = with_digit(reader->mapping.high, character);
    else if (reader->field < 2)
        reader->field++;
    return false;
}

static struct mapping find_mapping(int file, uintptr_t address) {
    struct reader reader = {{0, 0}, 0};
    char part[512];
    long length;
    while ((length = kernel_call(SYS_read, file, (long)part, sizeof part, 0)) > 0)
        for (long i = 0; i < length; i++) {
            if (!take(&reader, part[i]))
                continue;
            if (reader.mapping.low <= address && address < reader.mapping.high)
                return reader.mapping;
            reader = (struct reader){{0, 0}, 0};
        }
    return (struct mapping){0, 0};
}

static struct mapping mapping_around(uintptr_t address) {
    struct mapping found = {0, 0};
    int file = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (file >= 0) {
        found = find_mapping(file, address);
        kernel_call(SYS_close, file, 0, 0, 0);
    }
    return found;
}

static uint64_t stack_limit(void) {
    struct rlimit limit = {0, 0};
    kernel_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit);
    return limit.rlim_cur < MOST_STACK ? limit.rlim_cur : MOST_STACK;
}

// The C library puts a thread's control block on top of its stack, also where the program brought the stack. What lies
// above it in the same mapping may vanish.
static void find_stack_below(struct stack_range *stack, uintptr_t control_block) {
    struct mapping mapping = mapping_around(control_block - 1);
    stack->low = mapping.low;
    stack->high = control_block;
}

void find_stack(struct stack_range *stack) {
    bool is_main = kernel_call(SYS_gettid, 0, 0, 0, 0) == kernel_call(SYS_getpid, 0, 0, 0, 0);
    stack->low = stack->high = 1; // no stack is there
    if (is_main) {
        struct mapping mapping = mapping_around((uintptr_t)__libc_stack_end);
        if (mapping.high == 0)
            return;
        stack->high = mapping.high;
        uint64_t limit = stack_limit();
        stack->low = mapping.high - limit < mapping.low ? mapping.high - limit : mapping.low;
    } else {
        find_stack_below(stack, (uintptr_t)__builtin_thread_pointer());
        if (stack->low == 0)
            stack->low = stack->high = 1;
    }
}
