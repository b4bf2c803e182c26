; A function that owns arguments in memory becomes a variadic choice without named arguments, which leaves all arguments
; where they are; a jump from a function of the same type would copy them onto themselves.
; RUN: opt -mtriple=x86_64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s
; RUN: opt -mtriple=aarch64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s --check-prefix=OTHER
; RUN: opt -mtriple=x86_64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record' %s | llc -O2 -relocation-model=pic | FileCheck %s --check-prefix=CODE
; An optimiser that runs afterwards leaves the versions as they are.
; RUN: opt -mtriple=x86_64-linux-gnu -load-pass-plugin %plugin -passes='trackway-record,default<O2>,verify' -S %s | FileCheck %s --check-prefix=OPTIMISED

%large = type { [7 x i32] }

@address = global ptr @takes
; CHECK: @address = global ptr @takes
@second = alias i32 (ptr), ptr @takes
; CHECK: @second = alias i32 (ptr), ptr @takes

define i32 @takes(ptr byval(%large) align 8 %s, i32 signext %n) {
  %v = load i32, ptr %s
  store i32 %n, ptr %s
  ret i32 %v
}
; CHECK-LABEL: define void @takes(...) #[[#PASSES_ON:]] {
; CHECK-NEXT: entry:
; CHECK-NEXT: [[PLACE:%.*]] = load ptr, ptr getelementptr{{.*}}@trackway.module
; CHECK: [[TRACED:%.*]] = call ptr asm "", "=r,0"(ptr @takes.traced)
; CHECK-NEXT: musttail call void (...) [[TRACED]](...)
; CHECK-NEXT: ret void
; CHECK: [[PLAIN:%.*]] = call ptr asm "", "=r,0"(ptr @takes.plain)
; CHECK-NEXT: musttail call void (...) [[PLAIN]](...)
; CHECK-NEXT: ret void
; CHECK: [[LATE:%.*]] = call ptr asm "", "=r,0"(ptr @takes.late)
; CHECK-NEXT: musttail call void (...) [[LATE]](...)
; CHECK-NEXT: ret void
; CHECK-NEXT: }

; OTHER-LABEL: define void @takes(...)
; OTHER: call ptr asm "", "=r,0"(ptr @takes.traced)
; OTHER-NEXT: musttail call void (...) %{{.*}}(...)

; CODE-LABEL: {{^}}takes:
; CODE-NOT: %rsp
; CODE: leaq takes.traced(%rip), [[SCRATCH:%r[a-z0-9]+]]
; CODE: jmpq *[[SCRATCH]]
; CODE-NOT: %rsp
; CODE-LABEL: {{^}}results:

; OPTIMISED: define void @takes(...)
; OPTIMISED-DAG: call ptr asm "", "=r,0"(ptr {{.*}}@takes.traced)
; OPTIMISED-DAG: musttail call void (...) %{{.*}}(...)
; OPTIMISED-DAG: call ptr asm "", "=r,0"(ptr {{.*}}@takes.plain)
; OPTIMISED-DAG: musttail call void (...) %{{.*}}(...)

; A pointer to the result is one of the registers that are passed on.
define void @results(ptr noalias sret(%large) align 4 %r, ptr byval(%large) align 8 %s) {
  %v = load i32, ptr %s
  store i32 %v, ptr %r
  ret void
}
; CHECK-LABEL: define void @results(...)
; CHECK: call ptr asm "", "=r,0"(ptr @results.traced)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)

define i32 @further(ptr byval(%large) align 8 %s, ...) {
  %v = load i32, ptr %s
  ret i32 %v
}
; CHECK-LABEL: define void @further(...)
; CHECK: call ptr asm "", "=r,0"(ptr @further.traced)
; CHECK-NEXT: musttail call void (...) %{{.*}}(...)

define preserve_mostcc void @preserves(ptr byval(%large) align 8 %s) {
  store i32 1, ptr %s
  ret void
}
; CHECK-LABEL: define preserve_mostcc void @preserves(...)
; CHECK: call ptr asm "", "=r,0"(ptr @preserves.traced)
; CHECK-NEXT: musttail call preserve_mostcc void (...) %{{.*}}(...)

; Attributes that speak of arguments are gone, others are kept.
define ptr @allocates(ptr byval(%large) align 8 %s, i64 %n) allocsize(1) "kept" {
  %v = load ptr, ptr %s
  ret ptr %v
}
; CHECK-LABEL: define void @allocates(...) #[[#KEPT:]] {

define weak i32 @replaceable(ptr byval(%large) align 8 %s) {
  %v = load i32, ptr %s
  ret i32 %v
}

; In registers that variadic functions don't pass on, or have no name for: an ordinary call has copies of its own.
define i32 @nested(ptr nest %outer, ptr byval(%large) align 8 %s) {
  %v = load i32, ptr %s
  ret i32 %v
}
; CHECK-LABEL: define i32 @nested(ptr nest %{{.*}}, ptr byval(%large) align 8 %{{.*}})
; CHECK: {{^}}  %{{.*}} = notail call i32 @nested.traced(ptr nest %{{.*}}, ptr byval(%large) align 8 %

define x86_regcallcc i32 @elsewhere(ptr byval(%large) align 8 %s) {
  %v = load i32, ptr %s
  ret i32 %v
}
; CHECK-LABEL: define x86_regcallcc i32 @elsewhere(ptr byval(%large) align 8 %{{.*}})
; CHECK: {{^}}  %{{.*}} = notail call x86_regcallcc i32 @elsewhere.traced(ptr byval(%large) align 8 %

; A call can't pass on unnamed arguments.
define i32 @left.alone(ptr nest %outer, ptr byval(%large) align 8 %s, ...) {
  %v = load i32, ptr %s
  ret i32 %v
}
; CHECK-LABEL: define i32 @left.alone(
; CHECK-NEXT: %v = load
; CHECK-NOT: @left.alone.traced

; Callers keep the type, whether they know the version or not.
define i32 @caller(ptr %p) {
  %a = call i32 @takes(ptr byval(%large) align 8 %p, i32 signext 1)
  %b = call i32 @replaceable(ptr byval(%large) align 8 %p)
  %c = call i32 (ptr, ...) @further(ptr byval(%large) align 8 %p, double 1.0)
  %d = add i32 %a, %b
  %e = add i32 %d, %c
  ret i32 %e
}
; CHECK-LABEL: define internal i32 @caller.plain(
; CHECK: call i32 @takes.plain(ptr byval(%large) align 8 %p, i32 signext 1)
; CHECK: call i32 @replaceable(ptr byval(%large) align 8 %p)
; CHECK: call i32 (ptr, ...) @further.plain(ptr byval(%large) align 8 %p, double 1
; CHECK-LABEL: define internal i32 @takes.traced(ptr byval(%large) align 8 %s, i32 signext %n)
; CHECK-LABEL: define internal i32 @caller.traced(
; CHECK: call i32 @takes.traced(ptr byval(%large) align 8 %p, i32 signext 1)
; CHECK: call i32 @replaceable(ptr byval(%large) align 8 %p)
; CHECK: call i32 (ptr, ...) @further.traced(ptr byval(%large) align 8 %p, double 1

; CHECK: attributes #[[#PASSES_ON]] = { "thunk" }
; CHECK: attributes #[[#KEPT]] = { "kept" "thunk" }
