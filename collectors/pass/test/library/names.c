// Ranges are called as the arguments are, also where the optimiser has taken the code elsewhere.
// RUN: clang %fresh -O2 %s -o %t.ll
// RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution' -S %t.ll | FileCheck --check-prefix=LABELS %s
// LABELS: call i64 @strlen({{.*}}!llvm.access.group
// LABELS-DAG: !"Av4owner"}
// LABELS-DAG: !"Aoperson"}
// LABELS-DAG: !"Afperson\09name
#include <stddef.h>
size_t strlen(const char *);
struct person { int age; char name[16]; };
size_t length(struct person *owner) { return strlen(owner->name); }
