; What OpenMP's runtime starts, on whatever thread, joins the regions that are open where it is started.
; RUN: env TRACKWAY_PASS_OPTIONS=count=1 opt -load-pass-plugin %plugin -passes='trackway-regions,verify' -S %s | FileCheck %s
; RUN: opt -load-pass-plugin %plugin -passes='trackway-regions,verify' -S %s | FileCheck %s --check-prefix=RECORDING

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_fork_call_if(ptr, i32, ptr, i32, ptr)
declare ptr @__kmpc_omp_task_alloc(ptr, i32, i32, i64, i64, ptr)
declare void @__kmpc_taskloop(ptr, i32, ptr, i32, ptr, ptr, i64, i32, i32, i64, ptr)

; RECORDING-NOT: trackway

; CHECK-LABEL: define void @forks(
; CHECK: %trackway.place = alloca i64
; CHECK: call void @__trackway_share_with_team(ptr %trackway.place)
; CHECK-NEXT: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @trackway.join.body, ptr %a, ptr %trackway.place)
define void @forks(ptr %a) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @body, ptr %a)
  ret void
}

; Where a team is only possible, there are two ways.
; CHECK-LABEL: define void @forks_if(
; CHECK: %[[IS:.*]] = icmp ne i32 %c, 0
; CHECK: br i1 %[[IS]]
; CHECK: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @trackway.join.body{{.*}}, ptr %a, ptr %trackway.place)
; CHECK: call void @__kmpc_fork_call_if(ptr null, i32 1, ptr @body, i32 %c, ptr %a)
define void @forks_if(ptr %a, i32 %c) {
  call void @__kmpc_fork_call_if(ptr null, i32 1, ptr @body, i32 %c, ptr %a)
  ret void
}

; The place is at the end of the task, which its copies have, too.
; CHECK-LABEL: define void @makes_tasks(
; CHECK: %task = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 56, i64 8, ptr @trackway.join.task)
; CHECK-NEXT: %[[PLACE:.*]] = getelementptr inbounds i8, ptr %task, i64 48
; CHECK-NEXT: call void @__trackway_share_regions(ptr %[[PLACE]])
; CHECK: call void @__kmpc_taskloop({{.*}}ptr @trackway.join.copy)
define void @makes_tasks() {
  %task = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 44, i64 8, ptr @task)
  call void @__kmpc_taskloop(ptr null, i32 0, ptr %task, i32 1, ptr null, ptr null, i64 1, i32 0, i32 0, i64 0, ptr @copy)
  ret void
}

define internal void @body(ptr %thread, ptr %bound, ptr %a) {
  ret void
}

define internal i32 @task(i32 %thread, ptr %task) {
  ret i32 0
}

define internal void @copy(ptr %to, ptr %from, i32 %last) {
  ret void
}

; CHECK-LABEL: define internal void @trackway.join.body(ptr %0, ptr %1, ptr %2, ptr %3)
; CHECK-NEXT: %[[DEPTH:.*]] = call i32 @__trackway_join_regions(ptr %3)
; CHECK-NEXT: call void @body(ptr %0, ptr %1, ptr %2) #[[NOINLINE:[0-9]+]]
; CHECK-NEXT: call void @__trackway_leave_regions(i32 %[[DEPTH]], ptr null)
; CHECK-NEXT: ret void

; CHECK-LABEL: define internal i32 @trackway.join.task(i32 %0, ptr %1)
; CHECK-NEXT: %[[PLACE:.*]] = getelementptr inbounds i8, ptr %1, i64 48
; CHECK-NEXT: %[[DEPTH:.*]] = call i32 @__trackway_join_regions(ptr %[[PLACE]])
; CHECK-NEXT: %[[RESULT:.*]] = call i32 @task(i32 %0, ptr %1)
; CHECK: ret i32 %[[RESULT]]

; CHECK-LABEL: define internal void @trackway.join.copy(ptr %0, ptr %1, i32 %2)
; CHECK-NEXT: getelementptr inbounds i8, ptr %1, i64 48
; CHECK: attributes #[[NOINLINE]] = { {{.*}}noinline
