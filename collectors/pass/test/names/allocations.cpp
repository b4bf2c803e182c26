// Element types of allocations: from the variable that takes them, from `new`, from what the function returns.
// RUN: clang++ -O1 %fresh %s -o - | %names | FileCheck %s

typedef __SIZE_TYPE__ size_t;
extern "C" void *malloc(size_t);
extern "C" void *calloc(size_t, size_t);
struct arc { int cost; arc *next; };
struct net { arc *arcs; };

void fill(net *n) {
    n->arcs = (arc *)calloc(10, sizeof(arc));
    void *unknown = malloc(3);
    arc *one = new arc;
}
// CHECK: _Z4fillP3net allocation element='arc' size=16 variable='n->arcs'
// CHECK: _Z4fillP3net allocation element='' size=0 variable='unknown'
// CHECK: _Z4fillP3net allocation element='arc' size=16 variable='one'

arc *make(int n) { return new arc[n]; }
// CHECK: _Z4makei allocation element='arc' size=16 variable=''
