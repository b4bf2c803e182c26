; The entries of Rust's hash tables lie before the bytes that its pointer leads to.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output %s | FileCheck %s

; The pointer; a control byte, which is part of no entry; then the key and the value of an entry.
; CHECK: find load {{.*}} object='HashMap' field='table.ctrl' value='*u8'
; CHECK: find load {{.*}} variable='map.table[]' {{.*}} object='' field=''
; CHECK: find load {{.*}} variable='map.table[]' {{.*}} object='pair' field='key' value='u64'
; CHECK: find load {{.*}} variable='map.table[]' {{.*}} object='pair' field='value' value='u64'
define i64 @find(ptr %map, i64 %i) !dbg !10 {
  call void @llvm.dbg.value(metadata ptr %map, metadata !11, metadata !DIExpression()), !dbg !12
  %ctrl = load ptr, ptr %map, align 8, !dbg !12
  %byte = getelementptr inbounds i8, ptr %ctrl, i64 %i
  %tag = load i8, ptr %byte, align 1, !dbg !12
  %back = sub i64 0, %i
  %end = getelementptr inbounds { i64, i64 }, ptr %ctrl, i64 %back
  %at = getelementptr inbounds i8, ptr %end, i64 -16
  %key = load i64, ptr %at, align 8, !dbg !12
  %beside = getelementptr inbounds i8, ptr %end, i64 -8
  %value = load i64, ptr %beside, align 8, !dbg !12
  %sum = add i64 %key, %value
  ret i64 %sum
}

declare void @llvm.dbg.value(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "table.rs", directory: "/")
!2 = !DISubroutineType(types: !5)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !{null, !20}

!4 = !DICompositeType(tag: DW_TAG_structure_type, name: "pair", file: !1, size: 128, elements: !6)
!6 = !{!7, !8}
!7 = !DIDerivedType(tag: DW_TAG_member, name: "key", scope: !4, baseType: !9, size: 64)
!8 = !DIDerivedType(tag: DW_TAG_member, name: "value", scope: !4, baseType: !9, size: 64, offset: 64)
!9 = !DIBasicType(name: "u64", size: 64, encoding: DW_ATE_unsigned)

!30 = !DINamespace(name: "hashbrown", scope: null)
!31 = !DINamespace(name: "raw", scope: !30)
!32 = !DICompositeType(tag: DW_TAG_structure_type, name: "RawTable<pair>", scope: !31, file: !1, size: 64, elements: !33, templateParams: !36, identifier: "table")
!33 = !{!34}
!34 = !DIDerivedType(tag: DW_TAG_member, name: "ctrl", scope: !32, baseType: !35, size: 64)
!35 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "*u8", baseType: !38, size: 64)
!36 = !{!37}
!37 = !DITemplateTypeParameter(name: "T", type: !4)
!38 = !DIBasicType(name: "u8", size: 8, encoding: DW_ATE_unsigned)
!40 = !DICompositeType(tag: DW_TAG_structure_type, name: "HashMap", file: !1, size: 64, elements: !41, identifier: "map")
!41 = !{!42}
!42 = !DIDerivedType(tag: DW_TAG_member, name: "table", scope: !40, baseType: !32, size: 64)
!20 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "&HashMap", baseType: !40, size: 64)

!10 = distinct !DISubprogram(name: "find", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "map", arg: 1, scope: !10, type: !20)
!12 = !DILocation(line: 1, scope: !10)
