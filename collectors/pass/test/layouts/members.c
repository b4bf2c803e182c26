// Where members lie: holes, bit-fields, packed structures, anonymous members, arrays of structures.
// RUN: clang -O0 %fresh %s -o - | %names | FileCheck %s

typedef long cost_t;
struct point { int x, y; };
struct arc {
    cost_t cost;
    struct arc *next;
    struct point where[3];
    unsigned a : 3, b : 7;
    char tag;
    struct { short u; } ;
    double last;
};
struct __attribute__((packed)) tight { char c; int i; };
struct __attribute__((aligned(64))) line { char c; };
struct unused { int never; };

long sum(struct arc *arc, struct tight *tight, struct line *line) {
    return arc->cost + arc->b + tight->i + line->c;
}

// CHECK-NOT: type 'unused'
// CHECK: type 'point' size=8 align=4
// CHECK-NEXT:   member 'x' type='int' bits=0+32 align=4 kind=0
// CHECK-NEXT:   member 'y' type='int' bits=32+32 align=4 kind=0
// CHECK-NEXT: type '' size=2 align=2
// CHECK-NEXT:   member 'u' type='short' bits=0+16 align=2 kind=0
// CHECK-NEXT: type 'arc' size=56 align=8
// CHECK-NEXT:   member 'cost' type='cost_t' bits=0+64 align=8 kind=0
// CHECK-NEXT:   member 'next' type='struct arc *' bits=64+64 align=8 kind=0
// CHECK-NEXT:   member 'where' type='struct point[3]' bits=128+192 align=4 kind=0 nested=0
// CHECK-NEXT:   member 'a' type='unsigned int' bits=320+3 align=4 kind=1
// CHECK-NEXT:   member 'b' type='unsigned int' bits=323+7 align=4 kind=1
// CHECK-NEXT:   member 'tag' type='char' bits=336+8 align=1 kind=0
// CHECK-NEXT:   member '' type='' bits=352+16 align=2 kind=0 nested=1
// CHECK-NEXT:   member 'last' type='double' bits=384+64 align=8 kind=0
// CHECK-NEXT: type 'tight' size=5 align=1
// CHECK-NEXT:   member 'c' type='char' bits=0+8 align=1 kind=0
// CHECK-NEXT:   member 'i' type='int' bits=8+32 align=1 kind=0
// CHECK-NEXT: type 'line' size=64 align=64
// CHECK-NOT: type 'unused'
