; Where a thread may arrive from anywhere, the runtime looks for records that were cut off: in landing pads, and behind
; calls that return twice.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-record,verify' -S %s | FileCheck %s

declare i32 @setjmp(ptr) returns_twice
declare void @work()
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define internal i32 @returns_twice.traced
; CHECK: call i32 @setjmp
; CHECK-NEXT: call void @__trackway_came_back()
define i32 @returns_twice(ptr %buffer, ptr %p) {
  %second = call i32 @setjmp(ptr %buffer) returns_twice
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal i32 @lands.traced
; CHECK: invoke void @work
; CHECK: landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: call void @__trackway_came_back()
define i32 @lands(ptr %p) personality ptr @__gxx_personality_v0 {
  invoke void @work() to label %normal unwind label %pad

normal:
  %v = load i32, ptr %p
  ret i32 %v

pad:
  %exception = landingpad { ptr, i32 } cleanup
  store i32 0, ptr %p
  resume { ptr, i32 } %exception
}
