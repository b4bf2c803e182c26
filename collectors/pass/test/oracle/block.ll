; A copy is a read of the source, then a write of the destination; a fill is a write.
; RUN: env TRACKWAY_PASS_OPTIONS=only-oracle=1:calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare void @llvm.memcpy.p0.p0.i32(ptr, ptr, i32, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memset.inline.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.element.unordered.atomic.p0.p0.i64(ptr, ptr, i64, i32)

define void @f(ptr %to, ptr %from, ptr addrspace(1) %other, i32 %n) {
; CHECK-LABEL: define void @f(
; CHECK: [[N:%.*]] = zext i32 %n to i64
; CHECK: [[FROM:%.*]] = ptrtoint ptr %from to i64
; CHECK: call void @__trackway_oracle_access(i64 [[HASH:-?[0-9]+]], i64 6, i64 [[FROM]], i64 [[N]])
; CHECK: [[TO:%.*]] = ptrtoint ptr %to to i64
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 263, i64 [[TO]], i64 [[N]])
; CHECK-NEXT: call void @llvm.memcpy
  call void @llvm.memcpy.p0.p0.i32(ptr %to, ptr %from, i32 %n, i1 false)
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 65542, i64 %{{.*}}, i64 5)
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 65799, i64 %{{.*}}, i64 5)
; CHECK-NEXT: call void @llvm.memmove
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 5, i1 false)
; CHECK: i64 131078,
; CHECK: i64 131335,
; CHECK-NEXT: call void @llvm.memcpy.inline
  call void @llvm.memcpy.inline.p0.p0.i64(ptr %to, ptr %from, i64 8, i1 false)
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 196616, i64 %{{.*}}, i64 9)
; CHECK-NEXT: call void @llvm.memset
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 9, i1 false)
; CHECK: i64 262152,
; CHECK-NEXT: call void @llvm.memset.inline
  call void @llvm.memset.inline.p0.i64(ptr %to, i8 0, i64 9, i1 false)
; CHECK-NOT: i64 327686,
; CHECK: i64 327943,
; CHECK-NEXT: call void @llvm.memcpy.p0.p1
  call void @llvm.memcpy.p0.p1.i64(ptr %to, ptr addrspace(1) %other, i64 8, i1 false)
; CHECK: i64 393222,
; CHECK: i64 393479,
; CHECK-NEXT: call void @llvm.memcpy.element.unordered.atomic
  call void @llvm.memcpy.element.unordered.atomic.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 8, i32 4)
  ret void
}
