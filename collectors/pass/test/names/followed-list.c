// A loop that follows a list: the optimiser joins the loads of the first node's address and of the next ones', and parts
// them again; then neither label nor description of the pointer is left but of its next value.
// RUN: clang -O1 -g -S -emit-llvm -o %t.ll %s
// RUN: opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output %t.ll 2>&1 | FileCheck %s

struct node {
    long key;
    struct node *next;
};
struct node *head;

long sum(void) {
    long s = 0;
    for (struct node *n = head; n; n = n->next)
        s += n->key;
    return s;
}
// CHECK-DAG: sum load {{.*}} variable='head'
// CHECK-DAG: sum load {{.*}} variable='n' kind=local object='node' field='key'
// CHECK-DAG: sum load {{.*}} variable='n' kind=local object='node' field='next'
