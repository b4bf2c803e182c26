; A function in which a region may open a window runs its recording copy where regions are wanted; who calls it needn't.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

%region = type { ptr, i64 }
@name = private constant [2 x i8] c"r\00"
@region = internal global %region { ptr @name, i64 0 }
declare void @__trackway_window_enter_region(ptr)
declare void @__trackway_window_leave_region(ptr)
declare void @__trackway_window_enter_scope(ptr)

; CHECK-LABEL: define void @enters(
; CHECK: %[[WINDOW:.*]] = load atomic i32
; CHECK: %[[SWITCHES:.*]] = load atomic i32
; CHECK-NEXT: %[[WANTED:.*]] = or i32 %[[WINDOW]], %[[SWITCHES]]
; CHECK-NEXT: icmp ne i32 %[[WANTED]], 0
define void @enters(ptr %p) {
  call void @__trackway_window_enter_region(ptr @region)
  store i32 1, ptr %p
  call void @__trackway_window_leave_region(ptr @region)
  ret void
}

; CHECK-LABEL: define void @calls(
; CHECK: %[[WINDOW:.*]] = load atomic i32
; CHECK-NEXT: icmp ne i32 %[[WINDOW]], 0
define void @calls(ptr %p) {
  store i32 1, ptr %p
  call void @enters(ptr %p)
  ret void
}

; The constructor of a guard enters for who calls it.
; CHECK-LABEL: define void @constructor(
; CHECK: load atomic i32
; CHECK: load atomic i32
; CHECK-NEXT: or i32
define void @constructor(ptr %p) {
  store i32 1, ptr %p
  call void @__trackway_window_enter_scope(ptr @region)
  ret void
}

; CHECK-LABEL: define void @has_guard(
; CHECK: load atomic i32
; CHECK: load atomic i32
; CHECK-NEXT: or i32
define void @has_guard(ptr %p) {
  call void @constructor(ptr %p)
  store i32 1, ptr %p
  ret void
}
