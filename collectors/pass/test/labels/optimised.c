// Labels reach the end of the pipeline: through inlining, promotion, hoisting, vectorisation.
// RUN: clang -O2 %fresh %s -o - | %latenames | FileCheck %s

struct arc { long cost; int ident; struct arc *next; };
struct point { double x, y; };

static int ident(struct arc *which) { return which->ident; }
int inlined(struct arc **all, int i) { return ident(all[i]); }
// CHECK: inlined load part=0 variable='all' kind=parameter object='' field='' value='arc *'
// CHECK: inlined load part=0 variable='which' kind=parameter object='arc' field='ident' value='int'

long scan(struct arc *arcs, int n) {
    long sum = 0;
    for (int i = 0; i < n; ++i)
        if (arcs[i].ident > 0)
            sum += arcs[i].cost;
    return sum;
}
// CHECK: scan load part=0 variable='arcs' kind=parameter object='arc' field='ident' value='int'
// CHECK: scan load part=0 variable='arcs' kind=parameter object='arc' field='cost' value='long'

int vectorised(const int *restrict numbers, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += numbers[i];
    return sum;
}
// CHECK: vectorised load part=0 variable='numbers' kind=parameter object='' field='' value='int'

void copied(struct point *to, struct point *from) { *to = *from; }
// CHECK: copied {{.*}} part=0 variable='from' kind=parameter object='point'
// CHECK: copied {{.*}} part=1 variable='to' kind=parameter object='point'
