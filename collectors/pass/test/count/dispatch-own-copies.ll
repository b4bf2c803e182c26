; Choices that leave arguments in memory where they are do so on all three ways.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,trackway-count,verify' -S %s | FileCheck %s

define i32 @f(ptr byval([64 x i8]) %p) {
  %a = load i32, ptr %p
  ret i32 %a
}
; CHECK-LABEL: define void @f(...)
; CHECK: call ptr asm "", "=r,0"(ptr @f.traced)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)
; CHECK: call ptr asm "", "=r,0"(ptr @f.plain)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)
; CHECK: call ptr asm "", "=r,0"(ptr @f.late)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)
; CHECK: }

; CHECK-LABEL: define internal void @f.late(...)
; CHECK: call void @__trackway_begin_counting()
; CHECK: call ptr asm "", "=r,0"(ptr @f.traced)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)
; CHECK: call ptr asm "", "=r,0"(ptr @f.plain)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)
; CHECK: }
