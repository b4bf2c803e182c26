; The oracle reports ranges after the call, with the values that are recorded, before the next access.
; RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare ptr @strncpy(ptr, ptr, i64)

define void @f(ptr %to, ptr %from) {
; CHECK-LABEL: define internal void @f.traced(
; CHECK: call ptr @strncpy(
; CHECK: [[LENGTH:%.*]] = call i64 @__trackway_extent_length(ptr %from, i64 8)
; CHECK: call void @__trackway_oracle_access(i64 [[HASH:-?[0-9]+]], i64 9, i64 {{%.*}}, i64 {{%.*}})
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 266, i64 {{%.*}}, i64 8)
; CHECK: call void @__trackway_oracle_access(i64 [[HASH]], i64 65537, i64 {{%.*}}, i64 1)
; CHECK-NEXT: store i8 1, ptr %to
  %p = call ptr @strncpy(ptr %to, ptr %from, i64 8)
  store i8 1, ptr %to
  ret void
}
