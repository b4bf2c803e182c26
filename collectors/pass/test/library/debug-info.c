// A description of a variable after the call is no place to record at: it is erased, and the oracle still needs the place.
// RUN: clang %fresh -O2 %s -o %t.ll
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1 opt -load-pass-plugin %plugin -passes='default<O2>,verify' -S %t.ll | FileCheck %s
typedef unsigned long size_t;
size_t strlen(const char *);
size_t length(const char *text) {
    // CHECK-LABEL: @length.traced(
    // CHECK: call i64 @strlen(
    // CHECK: call void @__trackway_oracle_access(
    size_t found = strlen(text);
    size_t doubled = found * 2;
    return doubled;
}
