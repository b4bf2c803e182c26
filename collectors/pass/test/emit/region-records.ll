; A module with regions has a segment of the runtime's, by which a thread says in which of them it is: the descriptor has
; 1 + its number, and the table the names. A module without any has neither.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s
; RUN: sed -e '/trackway_window/d' -e '/^@trackway.region/d' %s | opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S \
; RUN:   | FileCheck %s --check-prefix=NONE

%region = type { ptr, i64 }
@name = private constant [5 x i8] c"sort\00"
@trackway.region = internal global %region { ptr @name, i64 7 }
declare void @__trackway_window_enter_region(ptr)

; It is the last of all segments.
; CHECK: @trackway.module = internal global {{.*}} { i32 0, i32 [[SEGMENTS:[0-9]+]], {{.*}} i64 0, i64 0, i64 0, i64 [[SEGMENTS]] }
; CHECK: @trackway.table = {{.*}}sort{{.*}}[regions]
; NONE: @trackway.module = internal global {{.*}} i64 0, i64 0, i64 0, i64 0 }
; NONE-NOT: [regions]
define void @enters(ptr %p) {
  call void @__trackway_window_enter_region(ptr @trackway.region)
  store i32 1, ptr %p
  ret void
}
