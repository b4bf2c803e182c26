// Without debug information: names of globals and of structures, nothing that would be a guess.
// RUN: clang -g0 -O1 -w -S -emit-llvm -Xclang -disable-llvm-passes -o - %s | %names | FileCheck %s

struct arc { int cost, ident; };
struct arc global;

int f(struct arc *arc) { return arc->ident + global.cost; }
// CHECK: f load part=0 variable='' kind=unknown object='arc' field='' value='int'
// CHECK: f load part=0 variable='global' kind=global object='arc' field='' value='int'
