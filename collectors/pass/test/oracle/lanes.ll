; Masked accesses: one for each active lane, the mask handed over as bits.
; RUN: env TRACKWAY_PASS_OPTIONS=only-oracle=1:calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v16i8.p0(<16 x i8>, ptr, i32, <16 x i1>)
declare <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i64>)
declare void @llvm.masked.scatter.v4i16.v4p0(<4 x i16>, <4 x ptr>, i32, <4 x i1>)
declare <4 x float> @llvm.masked.expandload.v4f32(ptr, <4 x i1>, <4 x float>)
declare void @llvm.masked.compressstore.v4f32(<4 x float>, ptr, <4 x i1>)
declare <vscale x 4 x i32> @llvm.masked.load.nxv4i32.p0(ptr, i32, <vscale x 4 x i1>, <vscale x 4 x i32>)

; masked: lanes, size, stride, packed; gather: lanes, size.
define void @f(ptr %p, <4 x ptr> %ps, <4 x i1> %m, <16 x i1> %wide, <vscale x 4 x i1> %scalable) {
; CHECK-LABEL: define void @f(
; CHECK-DAG: alloca i8, align 16, !trackway.oracle
; CHECK-DAG: alloca <4 x i64>, align 16, !trackway.oracle
; CHECK: [[BITS:%.*]] = bitcast <4 x i1> %m to i4
; CHECK: [[BYTE:%.*]] = zext i4 [[BITS]] to i8
; CHECK: store i8 [[BYTE]], ptr [[SLOT:%.*]], align 8, !trackway.oracle
; CHECK: call void @__trackway_oracle_masked(i64 {{.*}}, i64 0, i64 {{.*}}, ptr [[SLOT]], i32 4, i32 4, i32 4, i32 0)
; CHECK-NEXT: call <4 x i32> @llvm.masked.load
  %a = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %p, i32 4, <4 x i1> %m, <4 x i32> zeroinitializer)
; CHECK: store i16
; CHECK: call void @__trackway_oracle_masked(i64 {{.*}}, i64 65537, i64 {{.*}}, i32 16, i32 1, i32 1, i32 0)
  call void @llvm.masked.store.v16i8.p0(<16 x i8> zeroinitializer, ptr %p, i32 1, <16 x i1> %wide)
; CHECK: [[ADDRESSES:%.*]] = ptrtoint <4 x ptr> %ps to <4 x i64>
; CHECK: store <4 x i64> [[ADDRESSES]], ptr [[LIST:%.*]], align 8, !trackway.oracle
; CHECK: call void @__trackway_oracle_gather(i64 {{.*}}, i64 131072, ptr [[LIST]], ptr {{.*}}, i32 4, i32 8)
  %b = call <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr> %ps, i32 8, <4 x i1> %m, <4 x i64> zeroinitializer)
; CHECK: call void @__trackway_oracle_gather(i64 {{.*}}, i64 196609, ptr {{.*}}, ptr {{.*}}, i32 4, i32 2)
  call void @llvm.masked.scatter.v4i16.v4p0(<4 x i16> zeroinitializer, <4 x ptr> %ps, i32 2, <4 x i1> %m)
; CHECK: call void @__trackway_oracle_masked(i64 {{.*}}, i64 262144, i64 {{.*}}, i32 4, i32 4, i32 4, i32 1)
  %c = call <4 x float> @llvm.masked.expandload.v4f32(ptr %p, <4 x i1> %m, <4 x float> zeroinitializer)
; CHECK: call void @__trackway_oracle_masked(i64 {{.*}}, i64 327681, i64 {{.*}}, i32 4, i32 4, i32 4, i32 1)
  call void @llvm.masked.compressstore.v4f32(<4 x float> %c, ptr %p, <4 x i1> %m)
; CHECK-NOT: __trackway_oracle
  %d = call <vscale x 4 x i32> @llvm.masked.load.nxv4i32.p0(ptr %p, i32 4, <vscale x 4 x i1> %scalable, <vscale x 4 x i32> zeroinitializer)
  ret void
}
; CHECK: ret void
