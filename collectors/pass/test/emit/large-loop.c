// The recording copy of a function calls the function with the rest in place of a large loop, which has one recording
// copy so; its plain copy has the loop itself.
// RUN: clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm -o %t.ll %s
// RUN: opt -load-pass-plugin %plugin -passes='function(mem2reg),trackway-record,verify' -S %t.ll | FileCheck %s

#define TEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define DECLARE(n) int v##n;
#define ADD(n) v##n += i;
TEN(DECLARE, 1) TEN(DECLARE, 2) TEN(DECLARE, 3)

int other(void);

int large(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        TEN(ADD, 1) TEN(ADD, 2) TEN(ADD, 3)
        sum += other();
    }
    return sum;
}

// CHECK-LABEL: define internal i32 @large.plain(
// CHECK: call i32 @other()
// CHECK: call i32 @large.loop(ptr %trackway.left)

// CHECK-LABEL: define internal i32 @large.loop.traced(
// CHECK: call i32 @other()

// CHECK-LABEL: define internal i32 @large.traced(
// CHECK-NOT: @other
// CHECK-NOT: @v10
// CHECK: call i32 @large.loop(ptr %trackway.left)
// CHECK-NOT: @other
// CHECK: ret i32
