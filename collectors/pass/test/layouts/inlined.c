// A type is known though nothing that is left of the code refers to it.
// RUN: clang -O0 %fresh %s -o - | %latenames | FileCheck %s

struct pair { long a, b; };

static long second(void *memory) {
    struct pair *pair = memory;
    return pair->b;
}
long read(void *memory) { return second(memory); }

// CHECK: object='pair' field='b'
// CHECK: type 'pair' size=16 align=8
