// Functions that ask to be left alone are, and stay out of those that are not.
// RUN: clang -O1 %fresh %s -o %t.ll
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0 %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: plain.'
// RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution,verify' -S %t.ll | FileCheck %s

int plain(int *p) { return *p; }
__attribute__((annotate("trackway.ignore"))) int annotated(int *p) { return *p; }
__attribute__((disable_sanitizer_instrumentation)) int uninstrumented(int *p) { return *p; }
__attribute__((annotate("trackway.ignore"), always_inline)) int stubborn(int *p) { return *p; }
__attribute__((annotate("something else"))) int other(void) { return 0; }

// CHECK: define {{.*}}@annotated({{.*}} [[IGNORED:#[0-9]+]]
// CHECK: define {{.*}}@uninstrumented({{.*}} [[DISABLED:#[0-9]+]]
// CHECK: define {{.*}}@stubborn({{.*}} [[STUBBORN:#[0-9]+]]
// CHECK: define {{.*}}@other({{.*}} [[OTHER:#[0-9]+]]
// CHECK: attributes [[IGNORED]] = {{.*}}noinline{{.*}}"trackway-ignore"
// CHECK: attributes [[DISABLED]] = {{.*}}noinline
// CHECK-NOT: alwaysinline
