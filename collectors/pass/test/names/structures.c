// Variable, field path and types, through pointers, arrays and nested structures.
// RUN: clang -O0 %fresh %s -o - | %names | FileCheck %s
// RUN: clang -O1 %fresh %s -o - | %names | FileCheck %s

struct node;
struct arc {
    int cost, ident;
    struct node *tail;
};
struct node {
    struct node *pred;
    struct arc *basic_arc;
    struct { int x, y; } pos;
};
typedef struct { double mass; struct { float x, y; } pos[2]; } particle;

int table[10];
static particle cells[4];
_Thread_local long tick;
struct node root;
struct arc *arcs;

int through_pointer(struct arc *arc) { return arc->ident; }
// CHECK-LABEL: through_pointer load part=0 variable='arc' kind=parameter object='' field='' value='arc *'
// CHECK: through_pointer load part=0 variable='arc' kind=parameter object='arc' field='ident' value='int'

int through_chain(struct node *node) { return node->pred->basic_arc->cost; }
// CHECK: through_chain load part=0 variable='node' kind=parameter object='node' field='pred' value='node *'
// CHECK: through_chain load part=0 variable='node->pred' kind=expression object='node' field='basic_arc' value='arc *'
// CHECK: through_chain load part=0 variable='node->pred->basic_arc' kind=expression object='arc' field='cost' value='int'

void globals(int i) {
    static int calls;
    table[i] = 1;
    cells[i].pos[i].y = 2;
    tick = 3;
    root.pos.y = 4;
    calls = 5;
    arcs[i].ident = 6;
    arcs[-1].ident = 7;
}
// CHECK: globals store part=0 variable='table' kind=global object='' field='' value='int'
// CHECK: globals store part=0 variable='cells' kind=static object='particle' field='pos[].y' value='float'
// CHECK: globals store part=0 variable='tick' kind=global object='' field='' value='long'
// CHECK: globals store part=0 variable='root' kind=global object='node' field='pos.y' value='int'
// CHECK: globals store part=0 variable='calls' kind=static object='' field='' value='int'
// CHECK: globals store part=0 variable='arcs' kind=global object='arc' field='ident' value='int'
// CHECK: globals store part=0 variable='arcs' kind=global object='arc' field='ident' value='int'

int locals(int i, int **rows) {
    int array[8];
    struct node copy = root;
    array[i] = i;
    rows[i][2] = i;
    return copy.pos.x;
}
// CHECK: locals call part=0 variable='root' kind=global object='node' field='' value='node'
// CHECK: locals call part=1 variable='copy' kind=local object='node' field='' value='node'
// CHECK: locals store part=0 variable='array' kind=local object='' field='' value='int'
// CHECK: locals load part=0 variable='rows' kind=parameter object='' field='' value='int *'
// CHECK: locals store part=0 variable='rows[]' kind=expression object='' field='' value='int'
// CHECK: locals load part=0 variable='copy' kind=local object='node' field='pos.x' value='int'

struct node *next(void);
int result(void) { return next()->pos.x; }
// CHECK: result load part=0 variable='next()' kind=expression object='node' field='pos.x' value='int'

int cast(void *memory) { return ((struct arc *)memory)->ident; }
// CHECK: cast load part=0 variable='memory' kind=parameter object='arc' field='ident' value='int'

// The element before the one that the pointer declares: what lies there only TBAA knows, if anybody.
int container(int *member) { return *(int *)((char *)member - 8); }
// CHECK: container load part=0 variable='member' kind=parameter object='' field='' value='{{(int)?}}'{{$}}

int by_value(struct node n, int which) { return (which ? &n : &root)->pos.y; }
// CHECK: by_value load part=0 variable='{n|root}' kind=unknown object='node' field='pos.y' value='int'
