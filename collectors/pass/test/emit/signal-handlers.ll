; Handlers are installed through the runtime, also by the plain versions and through pointers; a function of the
; program's own that happens to have such a name is left alone.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

@installer = global ptr @sigaction
; CHECK: @installer = global ptr @__trackway_sigaction

declare i32 @sigaction(i32, ptr, ptr)
declare ptr @signal(i32, ptr)
declare ptr @__sysv_signal(i32, ptr)
declare i32 @sigset(i32)
define ptr @bsd_signal(i32 %n, ptr %h) {
  ret ptr %h
}

define void @install(ptr %h) {
  %a = call i32 @sigaction(i32 10, ptr %h, ptr null)
  %b = call ptr @signal(i32 10, ptr %h)
  %c = call ptr @__sysv_signal(i32 10, ptr %h)
  %d = call i32 @sigset(i32 10)
  %e = call ptr @bsd_signal(i32 10, ptr %h)
  ret void
}
; CHECK-LABEL: define internal void @install.plain(
; CHECK: call i32 @__trackway_sigaction(i32 10, ptr %h, ptr null)
; CHECK-LABEL: define internal void @install.traced(
; CHECK: call i32 @__trackway_sigaction(i32 10, ptr %h, ptr null)
; CHECK: call ptr @__trackway_signal(i32 10, ptr %h)
; CHECK: call ptr @__trackway_sysv_signal(i32 10, ptr %h)
; CHECK: call i32 @sigset(i32 10)
; CHECK: call ptr @bsd_signal
