// Base classes are members; equal names of different structures name none.
// RUN: clang -O0 %fresh %s -o - | %names | FileCheck %s

namespace ns {
struct Base { int b; };
class Derived : public Base {
  public:
    virtual ~Derived() {}
    long own;
};
} // namespace ns

int one() {
    struct Twice { int a; } t{1};
    return t.a;
}
long two() {
    struct Twice { long a, b; } t{1, 2};
    return t.b;
}
long read(ns::Derived &d) { return d.own + d.b; }

// CHECK-NOT: type 'Twice'
// CHECK: type 'ns::Base' size=4 align=4
// CHECK: type 'ns::Derived' size=24 align=8
// CHECK-NEXT:   member '_vptr$Derived' {{.*}} bits=0+64 align=8 kind=0
// CHECK-NEXT:   member 'ns::Base' type='ns::Base' bits=64+32 align=4 kind=2 nested=
// CHECK-NEXT:   member 'own' type='long' bits=128+64 align=8 kind=0
// CHECK-NOT: type 'Twice'
