// Members through `this`, base classes, templates, references, bindings, virtual tables.
// RUN: clang++ -std=c++17 -O0 %fresh %s -o - | %names > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck --check-prefix=MEMBER %s < %t

namespace ns {
template <class T> struct Vec {
    T x, y;
    T sum() { return x + y; }
};
} // namespace ns
namespace ns { inline namespace v1 {
template <class T> struct Outer {
    struct Inner { T *begin; T *end; } inner;
    long size() { return inner.end - inner.begin; }
};
} } // namespace ns
struct Base {
    int a;
    virtual int f() { return a; }
};
struct Derived : Base {
    double d;
    double g() { return a + d; }
};
struct Second { int s; };
struct Both : Derived, Second {};

int reference(ns::Vec<int> &v) { return v.sum() + v.y; }
// CHECK: _Z9reference{{.*}} load part=0 variable='v' kind=parameter object='ns::Vec<int>' field='y' value='int'

int bindings(ns::Vec<int> &v) {
    auto [p, q] = v;
    return q;
}
// CHECK: _Z8bindings{{.*}} call part=1 variable='{p|q}' kind=local object='ns::Vec<int>' field=''
// CHECK: _Z8bindings{{.*}} load part=0 variable='{p|q}' kind=local object='ns::Vec<int>' field='y' value='int'

long nested(ns::Outer<char> &outer) { return outer.size(); }

double members(Derived &derived, Both *both) {
    both->s = 1;
    return derived.g();
}
// CHECK: _Z7members{{.*}} store part=0 variable='both' kind=parameter object='Both' field='Second.s' value='int'

int virtual_call(Base *base) { return base->f(); }
// CHECK: _Z12virtual_call{{.*}} load part=0 variable='base' kind=parameter object='Base' field='_vptr$Base' value='vtable *'
// CHECK: _Z12virtual_call{{.*}} load part=0 variable='vtable' kind=compiler-made

// MEMBER-DAG: _ZN2ns3VecIiE3sumEv load part=0 variable='this' kind=parameter object='ns::Vec<int>' field='x' value='int'
// MEMBER-DAG: _ZN7Derived1gEv load part=0 variable='this' kind=parameter object='Derived' field='Base.a' value='int'
// MEMBER-DAG: _ZN2ns2v15OuterIcE4sizeEv load part=0 variable='this' kind=parameter object='ns::Outer<char>' field='inner.end' value='char *'
