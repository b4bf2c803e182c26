// Constants without a name in the source.
// RUN: clang -O0 %fresh %s -o - | %names | FileCheck %s
// RUN: clang -O2 %fresh %s -o - | %latenames | FileCheck --check-prefix=LATE %s

char literal(int i) { return "letters"[i]; }
// CHECK: literal load part=0 variable='string literal' kind=compiler-made

void use(int *);
void constant(void) {
    int values[] = {1, 2, 3, 4, 5, 6, 7};
    use(values);
}
// CHECK: constant call part=0 variable='constant' kind=compiler-made
// CHECK: constant call part=1 variable='values' kind=local

int lookup(int i) {
    switch (i) {
    case 0: return 17;
    case 1: return 4;
    case 2: return 99;
    case 3: return 12;
    default: return 0;
    }
}
// LATE: lookup load part=0 variable='switch table' kind=compiler-made
