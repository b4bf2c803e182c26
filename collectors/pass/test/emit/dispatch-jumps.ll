; A choice jumps to the chosen version, so that jumps of the program's (musttail) remain jumps where that version is
; inlined; not in a module's initialiser, in which AddressSanitizer adds a call before each return.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s | FileCheck %s

@count = global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @initialiser, ptr null }]

declare void @other()

define void @hops() {
  store i32 1, ptr @count
  musttail call void @other()
  ret void
}

define internal void @initialiser() {
  store i32 2, ptr @count
  ret void
}

; CHECK-LABEL: define void @hops()
; CHECK: record:
; CHECK-NEXT: musttail call void @hops.traced()
; CHECK-NEXT: ret void
; CHECK: run:
; CHECK-NEXT: musttail call void @hops.plain()

; CHECK-LABEL: define internal void @initialiser()
; CHECK: record:
; CHECK-NEXT: {{^ *}}tail call void @initialiser.traced()
; CHECK-NEXT: ret void
; CHECK: run:
; CHECK-NEXT: {{^ *}}tail call void @initialiser.plain()
