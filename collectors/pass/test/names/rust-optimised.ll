; What the optimiser takes away from accesses of Rust's code, and where their names come from then.
; RUN: opt -load-pass-plugin %plugin -passes='trackway-attribution,cgscc(argpromotion),function(sroa),print<trackway-names>' \
; RUN:   -disable-output %s | FileCheck %s

; A copy of the whole result becomes stores of its parts, and the parameter is no longer marked as the result.
; CHECK: result store {{.*}} variable='return value' {{.*}} object='pair' field='left'
; CHECK: result store {{.*}} variable='return value' {{.*}} object='pair' field='right'
define internal void @result(ptr noalias sret([16 x i8]) %out, i64 %a, i64 %b) !dbg !10 {
  %slot = alloca [16 x i8], align 8
  store i64 %a, ptr %slot, align 8, !dbg !11
  %right = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %b, ptr %right, align 8, !dbg !11
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %slot, i64 16, i1 false), !dbg !11
  ret void
}

define void @caller(ptr %out) !dbg !15 {
  call void @result(ptr sret([16 x i8]) %out, i64 1, i64 2), !dbg !16
  ret void
}

; A load that was moved has no place in the source, but goes through a parameter. What other functions call the pointer
; where they were inlined isn't asked.
; CHECK: moved load {{.*}} variable='bytes' kind=parameter object='pair' field='right'
define i64 @moved(ptr %p) !dbg !20 {
    #dbg_value(ptr %p, !22, !DIExpression(), !23)
    #dbg_value(ptr %p, !31, !DIExpression(), !24)
  %right = getelementptr inbounds i8, ptr %p, i64 8
  %a = load i64, ptr %right, align 8
  ret i64 %a
}

; A slot without a name is `self` in an inlined method alone, even where a label calls it a temporary.
; CHECK: inlines store {{.*}} variable='self' kind=parameter object='pair' field='right'
; CHECK: inlines load {{.*}} variable='temporary'
define i64 @inlines(i64 %v) !dbg !40 {
  %slot = alloca [16 x i8], align 8
    #dbg_value(ptr %slot, !31, !DIExpression(), !42)
  %right = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %v, ptr %right, align 8, !dbg !42
  call void @takes(ptr %slot), !dbg !41
  %a = load i64, ptr %slot, align 8, !dbg !41
  ret i64 %a
}

; A virtual table stays one, even if debug information has a name for it.
; CHECK: virtual load {{.*}} variable='vtable' kind=compiler-made
@table = constant [2 x i64] zeroinitializer, !dbg !55
define i64 @virtual() !dbg !50 {
  %object = alloca [8 x i8], align 8
    #dbg_declare(ptr %object, !52, !DIExpression(), !51)
  store ptr @table, ptr %object, align 8, !dbg !51
  %t = load ptr, ptr %object, align 8, !dbg !51
  %a = load i64, ptr %t, align 8, !dbg !51
  ret i64 %a
}

declare void @takes(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "optimised.rs", directory: "/")
!2 = !DISubroutineType(types: !12)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DICompositeType(tag: DW_TAG_structure_type, name: "pair", file: !1, size: 128, elements: !13)
!5 = !DIDerivedType(tag: DW_TAG_member, name: "left", scope: !4, baseType: !7, size: 64)
!6 = !DIDerivedType(tag: DW_TAG_member, name: "right", scope: !4, baseType: !7, size: 64, offset: 64)
!7 = !DIBasicType(name: "u64", size: 64, encoding: DW_ATE_unsigned)
!8 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "&mut pair", baseType: !4, size: 64)
!9 = !DISubroutineType(types: !14)
!12 = !{!4}
!13 = !{!5, !6}
!14 = !{null, !8}

!10 = distinct !DISubprogram(name: "result", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 1, scope: !10)
!15 = distinct !DISubprogram(name: "caller", file: !1, unit: !0, type: !9, spFlags: DISPFlagDefinition)
!16 = !DILocation(line: 2, scope: !15)
!20 = distinct !DISubprogram(name: "moved", file: !1, unit: !0, type: !9, spFlags: DISPFlagDefinition)
!21 = !DILocation(line: 3, scope: !20)
!22 = !DILocalVariable(name: "bytes", arg: 1, scope: !20, type: !8)
!23 = !DILocation(line: 3, scope: !20)
!24 = !DILocation(line: 5, scope: !30, inlinedAt: !21)
!30 = distinct !DISubprogram(name: "method", file: !1, unit: !0, type: !9, spFlags: DISPFlagDefinition)
!31 = !DILocalVariable(name: "self", arg: 1, scope: !30, type: !8)
!40 = distinct !DISubprogram(name: "inlines", file: !1, unit: !0, type: !9, spFlags: DISPFlagDefinition)
!41 = !DILocation(line: 4, scope: !40)
!42 = !DILocation(line: 5, scope: !30, inlinedAt: !43)
!43 = distinct !DILocation(line: 4, scope: !40)
!50 = distinct !DISubprogram(name: "virtual", file: !1, unit: !0, type: !9, spFlags: DISPFlagDefinition)
!51 = !DILocation(line: 6, scope: !50)
!52 = !DILocalVariable(name: "object", scope: !50, type: !53)
!53 = !DICompositeType(tag: DW_TAG_structure_type, name: "class", file: !1, size: 64, elements: !54)
!54 = !{!57}
!55 = !DIGlobalVariableExpression(var: !56, expr: !DIExpression())
!56 = distinct !DIGlobalVariable(name: "_vtable$", scope: !0, file: !1, type: !7)
!57 = !DIDerivedType(tag: DW_TAG_member, name: "_vptr$class", scope: !53, baseType: !58, size: 64)
!58 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !8, size: 64)
