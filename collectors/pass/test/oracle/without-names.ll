; The oracle reports accesses of every form also where nothing is known to name them by.
; RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare <8 x i32> @llvm.masked.load.v8i32.p0(ptr, i32, <8 x i1>, <8 x i32>)

define i32 @f(ptr %p, <8 x i1> %mask) {
; CHECK-LABEL: define internal i32 @f.traced(
; CHECK: call void @__trackway_oracle_masked(
; CHECK: call void @__trackway_oracle_access(i64 {{.*}}, i64 65540,
; CHECK: call void @__trackway_oracle_access(i64 {{.*}}, i64 131077,
  %v = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %p, i32 4, <8 x i1> %mask, <8 x i32> undef)
  %old = atomicrmw add ptr %p, i32 1 monotonic
  %pair = cmpxchg ptr %p, i32 1, i32 2 monotonic monotonic
  %lane = extractelement <8 x i32> %v, i64 0
  %sum = add i32 %old, %lane
  ret i32 %sum
}
