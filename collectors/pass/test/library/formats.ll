; The directives of a literal format say which arguments are strings, how far they are read, and where %n writes. Nothing is
; said of a va_list, of arguments with positions, and of a format that is no literal.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

declare i32 @snprintf(ptr, i64, ptr, ...)
declare i32 @vsnprintf(ptr, i64, ptr, ptr)
@strings = private constant [22 x i8] c"%d %-5s %.3s %.*s%%%n\00"
@positions = private constant [10 x i8] c"%2$d %1$s\00"

define i32 @directives(ptr %to, i32 %x, ptr %a, ptr %b, i32 %n, ptr %c, ptr %w) {
; CHECK-LABEL: define internal i32 @directives.traced(
; CHECK: call i32 (ptr, i64, ptr, ...) @snprintf(
; CHECK: [[SAFE:%.*]] = select i1 {{%.*}}, ptr %a, ptr null
; CHECK-NEXT: [[LENGTH:%.*]] = call i64 @__trackway_extent_length(ptr [[SAFE]], i64 -1)
; CHECK-NEXT: add i64 [[LENGTH]], 1
; CHECK: [[SAFE:%.*]] = select i1 {{%.*}}, ptr %b, ptr null
; CHECK-NEXT: [[LENGTH:%.*]] = call i64 @__trackway_extent_length(ptr [[SAFE]], i64 3)
; CHECK-NEXT: [[WITH_END:%.*]] = add i64 [[LENGTH]], 1
; CHECK-NEXT: call i64 @llvm.umin.i64(i64 [[WITH_END]], i64 3)
; CHECK: [[SAFE:%.*]] = select i1 {{%.*}}, ptr %c, ptr null
; CHECK-NEXT: [[LIMIT:%.*]] = sext i32 %n to i64
; CHECK-NEXT: call i64 @__trackway_extent_length(ptr [[SAFE]], i64 [[LIMIT]])
; CHECK: select i1 {{%.*}}, i64 4, i64 0
; CHECK-NOT: @__trackway_extent_
; CHECK: ret i32
  %r = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %to, i64 20, ptr @strings, i32 %x, ptr %a, ptr %b, i32 %n, ptr %c, ptr %w)
  ret i32 %r
}

define i32 @unknown(ptr %to, ptr %format, ptr %a, i32 %x) {
; CHECK-LABEL: define internal i32 @unknown.traced(
; CHECK-NOT: @__trackway_extent_length(ptr %a
; CHECK-NOT: select {{.*}} ptr %a
; CHECK: ret i32
  %r = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %to, i64 20, ptr @positions, ptr %a, i32 %x)
  %s = call i32 @vsnprintf(ptr %to, i64 20, ptr @strings, ptr %a)
  %t = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %to, i64 20, ptr %format, ptr %a)
  ret i32 %r
}
