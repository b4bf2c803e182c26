; What library functions access is counted after their calls, as it is recorded there: how often a range isn't empty, and
; its bytes.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,trackway-count,verify' -S %s | FileCheck %s
; RUN: env TRACKWAY_PASS_OPTIONS=count=1:library=0 opt -load-pass-plugin %plugin -passes='trackway-regions,trackway-count,verify' -S %s | FileCheck --check-prefix=WITHOUT %s
; WITHOUT-NOT: smax
; WITHOUT-NOT: __trackway_extent

declare i64 @strlen(ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare i64 @write(i32, ptr, i64)
declare i32 @printf(ptr, ...)
declare ptr @strdup(ptr)
declare i32 @__gxx_personality_v0(...)
declare void @__trackway_begin_region(ptr)
declare void @__trackway_end_region(ptr)
declare void @other()
@format = private constant [4 x i8] c"%d\0A\00"
@name = private constant [2 x i8] c"r\00"

; The plain copy holds nothing of it.
; CHECK-LABEL: define internal i32 @of_memory.plain(
; CHECK-NEXT: %r = call i32 @memcmp(
; CHECK-NEXT: ret i32 %r

; The version of a function with regions that doesn't count asks no helper.
; CHECK-LABEL: define internal i32 @in_region.traced(
; CHECK: call i64 @__trackway_extent_difference(
; CHECK-NOT: __trackway_extent_
; CHECK: ret i32
define i32 @in_region(ptr %a, ptr %b, i64 %n) {
  call void @__trackway_begin_region(ptr @name)
  %r = call i32 @memcmp(ptr %a, ptr %b, i64 %n)
  call void @__trackway_end_region(ptr @name)
  ret i32 %r
}

; CHECK-LABEL: define internal i64 @of_result.traced(
; CHECK: [[RESULT:%.*]] = notail call i64 @strlen(ptr %s)
; CHECK: [[SUM:%.*]] = add i64 [[RESULT]], 1
; CHECK-NEXT: [[WITH_END:%.*]] = call i64 @llvm.smax.i64(i64 [[SUM]], i64 0)
; CHECK: [[IS:%.*]] = icmp ne i64 [[WITH_END]], 0
; CHECK-NEXT: [[ONE:%.*]] = zext i1 [[IS]] to i64
; CHECK-DAG: add i64 %{{.*}}, [[WITH_END]]
; CHECK-DAG: add i64 %{{.*}}, [[ONE]]
; CHECK: ret i64 [[RESULT]]
define i64 @of_result(ptr %s) {
  %n = tail call i64 @strlen(ptr %s)
  ret i64 %n
}

; Both ranges of a comparison have the same counters. The time that the call takes ends before the helper is asked.
; CHECK-LABEL: define internal i32 @of_memory.traced(
; CHECK: call i32 @memcmp(ptr %a, ptr %b, i64 %n)
; CHECK: call void @__trackway_end_call(
; CHECK: [[LENGTH:%.*]] = call i64 @__trackway_extent_difference(ptr %a, ptr %b, i64 %n)
; CHECK: icmp ne i64 [[LENGTH]], 0
; CHECK: add i64 %{{.*}}, [[LENGTH]]
; CHECK-NOT: [[LENGTH]]
; CHECK-NOT: icmp
; CHECK: ret i32
define i32 @of_memory(ptr %a, ptr %b, i64 %n) {
  %r = call i32 @memcmp(ptr %a, ptr %b, i64 %n)
  ret i32 %r
}

; A literal is as long each time, so it follows from the executions of its block.
; CHECK-LABEL: define internal void @of_literal.traced(
; CHECK: @printf(
; CHECK-NOT: add i64
; CHECK: ret void
define void @of_literal(i32 %x) {
  %n = call i32 (ptr, ...) @printf(ptr @format, i32 %x)
  ret void
}

; An invoke that unwinds has accessed nothing.
; CHECK-LABEL: define internal i64 @invoked.traced(
; CHECK: [[WRITTEN:%.*]] = invoke i64 @write(
; CHECK: call i64 @llvm.smax.i64(i64 [[WRITTEN]], i64 0)
; CHECK: ret i64
; CHECK: landingpad
; CHECK-NOT: smax
; CHECK: resume
define i64 @invoked(ptr %s) personality ptr @__gxx_personality_v0 {
  %n = invoke i64 @write(i32 1, ptr %s, i64 5) to label %done unwind label %failed
done:
  ret i64 %n
failed:
  %x = landingpad { ptr, i32 } cleanup
  call void @other()
  resume { ptr, i32 } %x
}
