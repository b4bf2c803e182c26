; What a closure of Rust has captured bears the name of the variable: debug information declares the variables at the
; slot of the environment's address, or at the environment itself.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output %s | FileCheck %s

; The environment has the address of `sums`, then the address of `count`, then a copy of `owned`.
; CHECK: borrowed load {{.*}} variable='sums' kind=local object=''
; CHECK: borrowed load {{.*}} variable='sums' kind=local object='pair' field='right'
; CHECK: borrowed load {{.*}} variable='count' kind=local object=''
; CHECK: borrowed store {{.*}} variable='count' kind=local object='' field='' value='u64'
; CHECK: borrowed load {{.*}} variable='owned' kind=local object='pair' field='right'
define void @borrowed(ptr %env) !dbg !10 {
  %spill = alloca ptr, align 8
  store ptr %env, ptr %spill, align 8
  call void @llvm.dbg.declare(metadata ptr %spill, metadata !11, metadata !DIExpression(DW_OP_deref, DW_OP_deref)), !dbg !14
  call void @llvm.dbg.declare(metadata ptr %spill, metadata !12, metadata !DIExpression(DW_OP_deref, DW_OP_plus_uconst, 8, DW_OP_deref)), !dbg !14
  call void @llvm.dbg.declare(metadata ptr %spill, metadata !13, metadata !DIExpression(DW_OP_deref, DW_OP_plus_uconst, 16)), !dbg !14
  %sums = load ptr, ptr %env, align 8, !dbg !14
  %right = getelementptr inbounds i8, ptr %sums, i64 8
  %v = load i64, ptr %right, align 8, !dbg !14
  %second = getelementptr inbounds i8, ptr %env, i64 8
  %count = load ptr, ptr %second, align 8, !dbg !14
  store i64 %v, ptr %count, align 8, !dbg !14
  %inside = getelementptr inbounds i8, ptr %env, i64 24
  %w = load i64, ptr %inside, align 8, !dbg !14
  ret void
}

; An environment that the closure was given as a whole.
; CHECK: moved load {{.*}} variable='owned' kind=local object='pair' field='left'
; CHECK: moved load {{.*}} variable='count' kind=local object=''
; CHECK: moved store {{.*}} variable='count' kind=local object='' field='' value='u64'
define void @moved() !dbg !20 {
  %env = alloca [24 x i8], align 8
  call void @llvm.dbg.declare(metadata ptr %env, metadata !21, metadata !DIExpression()), !dbg !23
  call void @llvm.dbg.declare(metadata ptr %env, metadata !22, metadata !DIExpression(DW_OP_plus_uconst, 16, DW_OP_deref)), !dbg !23
  %v = load i64, ptr %env, align 8, !dbg !23
  %second = getelementptr inbounds i8, ptr %env, i64 16
  %count = load ptr, ptr %second, align 8, !dbg !23
  store i64 %v, ptr %count, align 8, !dbg !23
  ret void
}

declare void @llvm.dbg.declare(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "captures.rs", directory: "/")
!2 = !DISubroutineType(types: !5)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DICompositeType(tag: DW_TAG_structure_type, name: "pair", file: !1, size: 128, elements: !6)
!5 = !{null}
!6 = !{!7, !8}
!7 = !DIDerivedType(tag: DW_TAG_member, name: "left", scope: !4, baseType: !9, size: 64)
!8 = !DIDerivedType(tag: DW_TAG_member, name: "right", scope: !4, baseType: !9, size: 64, offset: 64)
!9 = !DIBasicType(name: "u64", size: 64, encoding: DW_ATE_unsigned)

!10 = distinct !DISubprogram(name: "borrowed", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "sums", scope: !10, type: !4)
!12 = !DILocalVariable(name: "count", scope: !10, type: !9)
!13 = !DILocalVariable(name: "owned", scope: !10, type: !4)
!14 = !DILocation(line: 1, scope: !10)
!20 = distinct !DISubprogram(name: "moved", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!21 = !DILocalVariable(name: "owned", scope: !20, type: !4)
!22 = !DILocalVariable(name: "count", scope: !20, type: !9)
!23 = !DILocation(line: 2, scope: !20)
