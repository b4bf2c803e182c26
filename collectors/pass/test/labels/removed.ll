; The recording pass takes the labels and the marks of results off again and leaves the access groups of others.
; RUN: env TRACKWAY_PASS_OPTIONS=calls=0 opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-record,verify' -S %s | FileCheck %s

@named = global i32 0

; CHECK-NOT: trackway.labels
; CHECK: store i32 1, ptr @named, align 4, !llvm.access.group [[OTHER:![0-9]+]]
; CHECK: define {{.*}} @result.plain(ptr sret(i32) %out)
; CHECK: [[OTHER]] = distinct !{}
; CHECK-NOT: trackway.labels
define void @f() {
  store i32 1, ptr @named, !llvm.access.group !0
  ret void
}

define void @result(ptr sret(i32) %out) {
  ret void
}
!0 = distinct !{}
