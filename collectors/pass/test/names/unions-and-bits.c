// Union members by offset, size and type; bit-fields by the bits that the code keeps.
// RUN: clang -O0 %fresh %s -o - | %names | FileCheck %s

typedef struct {
    int tag;
    union {
        int number;
        float real;
        unsigned other;
        struct { short low, high; } half;
    } u;
    unsigned first : 3, second : 7;
    int third : 9;
} thing;

void members(thing *t) {
    t->u.real = 1;
    t->u.half.high = 2;
    t->u.number = 3;
}
// CHECK: members store part=0 variable='t' kind=parameter object='thing' field='u.real' value='float'
// CHECK: members store part=0 variable='t' kind=parameter object='thing' field='u.half.high' value='short'
// CHECK: members store part=0 variable='t' kind=parameter object='thing' field='u.{number|other}' value='{int|unsigned int}'

int read_bits(thing *t) { return t->first + t->second + t->third; }
// CHECK: read_bits load {{.*}} field='first' value='unsigned int'
// CHECK: read_bits load {{.*}} field='second' value='unsigned int'
// CHECK: read_bits load {{.*}} field='third' value='int'

void write_bits(thing *t, int v) {
    t->second = v;
    t->third = v;
    t->first = 0;
}
// CHECK: write_bits load {{.*}} object='thing' field='second'
// CHECK: write_bits store {{.*}} object='thing' field='second'
// CHECK: write_bits load {{.*}} object='thing' field='third'
// CHECK: write_bits store {{.*}} object='thing' field='third'
// CHECK: write_bits load {{.*}} object='thing' field='first'
// CHECK: write_bits store {{.*}} object='thing' field='first'

// Of more members than can be listed, the union that they are parts of is named.
struct tagged {
    union { int *a; long *b; char *c; float *d; double *e; } value;
    int tag;
};
void *any_of_five(struct tagged *t) { return *(void **)t; }
// CHECK: any_of_five load part=0 variable='t' kind=parameter object='tagged' field='value' value=''
