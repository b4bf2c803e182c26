; Loads, stores and atomics: kind, size and ordinal of each; other address spaces and swifterror are no accesses.
; RUN: env TRACKWAY_PASS_OPTIONS=only-oracle=1:calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

; opk is ordinal << 16 | part << 8 | kind.

define void @f(ptr %p, ptr addrspace(1) %other) {
; CHECK-LABEL: define void @f(
; CHECK: [[A:%.*]] = ptrtoint ptr %p to i64
; CHECK-NEXT: call void @__trackway_oracle_access(i64 [[HASH:-?[0-9]+]], i64 0, i64 [[A]], i64 3)
; CHECK-NEXT: load i24
  %narrow = load i24, ptr %p
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 65537, i64 %{{.*}}, i64 32)
; CHECK-NEXT: store <4 x i64>
  store <4 x i64> zeroinitializer, ptr %p
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 131074, i64 %{{.*}}, i64 4)
; CHECK-NEXT: load atomic
  %atomic = load atomic i32, ptr %p unordered, align 4
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 196611, i64 %{{.*}}, i64 8)
; CHECK-NEXT: store atomic
  store atomic i64 1, ptr %p seq_cst, align 8
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 262148, i64 %{{.*}}, i64 2)
; CHECK-NEXT: atomicrmw
  %update = atomicrmw add ptr %p, i16 1 monotonic
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 327685, i64 %{{.*}}, i64 8)
; CHECK-NEXT: cmpxchg
  %exchange = cmpxchg ptr %p, ptr null, ptr %p acq_rel monotonic
; CHECK-NOT: __trackway_oracle
  %elsewhere = load i32, ptr addrspace(1) %other
  %scalable = load <vscale x 4 x i32>, ptr %p
  call void asm sideeffect "", "*m"(ptr elementtype(i32) %p)
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 589824, i64 %{{.*}}, i64 1)
; CHECK-NEXT: load volatile
  %volatile = load volatile i8, ptr %p
  ret void
}

define swiftcc void @error(ptr swifterror %slot) {
; CHECK-LABEL: @error(
; CHECK-NOT: __trackway_oracle
  store ptr null, ptr %slot
  ret void
}
; CHECK: ret void
