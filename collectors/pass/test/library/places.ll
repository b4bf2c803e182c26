; Ranges are recorded after the call, before what follows it: in the normal destination of an invoke, before the mark of
; the function's exit. Calls that must be tail calls have nothing after them.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck %s
; RUN: env TRACKWAY_PASS_OPTIONS=library=0 opt -load-pass-plugin %plugin -passes='print<trackway-plan>' -disable-output %s | FileCheck --check-prefix=WITHOUT %s

; WITHOUT-NOT: block

declare i64 @strlen(ptr)
declare i64 @write(i32, ptr, i64)
declare ptr @strdup(ptr)
declare i32 @__gxx_personality_v0(...)
declare void @other()

define i64 @before_return(ptr %s) {
; CHECK-LABEL: function before_return
; CHECK: enter
; CHECK: root [[S:r[0-9]+]] = %s
; CHECK: block 0 at [[S]], length
; CHECK: exit
  %n = tail call i64 @strlen(ptr %s)
  ret i64 %n
}

define void @before_access(ptr %s) {
; CHECK-LABEL: function before_access
; CHECK: block 1 at
; CHECK: access 0 at
  %n = call i64 @strlen(ptr %s)
  store i8 0, ptr %s
  ret void
}

define i64 @invoked(ptr %s) personality ptr @__gxx_personality_v0 {
; CHECK-LABEL: function invoked
; CHECK: block 0 at
  %n = invoke i64 @write(i32 1, ptr %s, i64 5) to label %done unwind label %failed
done:
  ret i64 %n
failed:
  %x = landingpad { ptr, i32 } cleanup
  call void @other()
  resume { ptr, i32 } %x
}

define i64 @must_be_tail(ptr %s) {
; CHECK-LABEL: function must_be_tail
; CHECK-NOT: block
  %n = musttail call i64 @strlen(ptr %s)
  ret i64 %n
}

; An allocation comes before what is written there.
define ptr @allocated(ptr %s) {
; CHECK-LABEL: function allocated
; CHECK: allocate 0 at [[TO:r[0-9]+]], size
; CHECK: block 0 at
; CHECK: block 1 at [[TO]], length
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}
