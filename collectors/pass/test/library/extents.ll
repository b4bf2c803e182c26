; The length comes from the result, from arguments, or from a helper that looks at the memory after the call.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s
; The plain copies hold nothing of it.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck --check-prefix=PLAIN %s
; PLAIN-LABEL: define internal i32 @of_memory.plain(
; PLAIN-NEXT: %r = call i32 @memcmp(
; PLAIN-NEXT: ret i32 %r

declare i64 @strlen(ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare i64 @read(i32, ptr, i64)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare ptr @strchr(ptr, i32)
declare ptr @fgets(ptr, i32, ptr)
declare i64 @getline(ptr, ptr, ptr)
@format = private constant [4 x i8] c"%d\0A\00"

define i64 @of_result(ptr %s) {
; CHECK-LABEL: define internal i64 @of_result.traced(
; CHECK: [[RESULT:%.*]] = notail call i64 @strlen(ptr %s)
; CHECK-NEXT: [[WITH_END:%.*]] = add i64 [[RESULT]], 1
  %n = tail call i64 @strlen(ptr %s)
  ret i64 %n
}

; Both ranges of a comparison have one length.
define i32 @of_memory(ptr %a, ptr %b, i64 %n) {
; CHECK-LABEL: define internal i32 @of_memory.traced(
; CHECK: call i32 @memcmp(ptr %a, ptr %b, i64 %n)
; CHECK-NEXT: call i64 @__trackway_extent_difference(ptr %a, ptr %b, i64 %n)
; CHECK-NOT: @__trackway_extent_difference
; CHECK: ret i32
  %r = call i32 @memcmp(ptr %a, ptr %b, i64 %n)
  ret i32 %r
}

; A result of -1 stands for nothing.
define i64 @of_failure(i32 %fd, ptr %to) {
; CHECK-LABEL: define internal i64 @of_failure.traced(
; CHECK: [[READ:%.*]] = notail call i64 @read(i32 %fd, ptr %to, i64 100)
; CHECK-NEXT: call i64 @llvm.smax.i64(i64 [[READ]], i64 0)
  %n = call i64 @read(i32 %fd, ptr %to, i64 100)
  ret i64 %n
}

; Of a literal the length is known.
define i32 @of_format(ptr %to, i32 %x) {
; CHECK-LABEL: define internal i32 @of_format.traced(
; CHECK: [[WRITTEN:%.*]] = {{.*}}call i32 (ptr, i64, ptr, ...) @snprintf(
; CHECK: [[WIDE:%.*]] = sext i32 [[WRITTEN]] to i64
; CHECK-NEXT: [[ALL:%.*]] = add i64 [[WIDE]], 1
; CHECK-NEXT: call i64 @llvm.umin.i64(i64 [[ALL]], i64 20)
; CHECK-NOT: @__trackway_extent_
; CHECK: ret i32
  %n = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %to, i64 20, ptr @format, i32 %x)
  ret i32 %n
}

; What a condition rules out is looked for at null, where there is nothing.
define ptr @of_both(ptr %s, i32 %c) {
; CHECK-LABEL: define internal ptr @of_both.traced(
; CHECK: [[FOUND:%.*]] = notail call ptr @strchr(ptr %s, i32 %c)
; CHECK-NEXT: [[IS:%.*]] = icmp ne ptr [[FOUND]], null
; CHECK: [[NOT:%.*]] = xor i1 [[IS]], true
; CHECK-NEXT: [[SAFE:%.*]] = select i1 [[NOT]], ptr %s, ptr null
; CHECK-NEXT: call i64 @__trackway_extent_length(ptr [[SAFE]], i64 -1)
; CHECK: select i1 [[IS]], i64
  %p = call ptr @strchr(ptr %s, i32 %c)
  ret ptr %p
}

define ptr @of_condition(ptr %to, ptr %file) {
; CHECK-LABEL: define internal ptr @of_condition.traced(
; CHECK: [[LINE:%.*]] = notail call ptr @fgets(ptr %to, i32 80, ptr %file)
; CHECK-NEXT: [[IS:%.*]] = icmp ne ptr [[LINE]], null
; CHECK-NEXT: [[SAFE:%.*]] = select i1 [[IS]], ptr %to, ptr null
; CHECK-NEXT: call i64 @__trackway_extent_length(ptr [[SAFE]], i64 80)
  %p = call ptr @fgets(ptr %to, i32 80, ptr %file)
  ret ptr %p
}

; The buffer is where the function left it. That it is looked up is no access of the program.
define i64 @of_pointer(ptr %line, ptr %size, ptr %file) {
; CHECK-LABEL: define internal i64 @of_pointer.traced(
; CHECK: call i64 @getline(ptr %line, ptr %size, ptr %file)
; CHECK-NEXT: load ptr, ptr %line, align 8, !trackway.ours
  %n = call i64 @getline(ptr %line, ptr %size, ptr %file)
  ret i64 %n
}
