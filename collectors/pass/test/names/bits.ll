; Bit-fields of one storage unit that optimised code tests together, or in several uses of one load.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output %s | FileCheck %s

; CHECK: together load {{.*}} object='flags' field='{a|c}' value='unsigned int'
define i1 @together(ptr %p) !dbg !10 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !11, metadata !DIExpression()), !dbg !12
  %unit = load i8, ptr %p, !dbg !12
  %bits = and i8 %unit, 5
  %set = icmp ne i8 %bits, 0
  ret i1 %set
}

; CHECK: uses load {{.*}} object='flags' field='{a|b|h}' value='unsigned int'
define i1 @uses(ptr %p) !dbg !20 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !21, metadata !DIExpression()), !dbg !22
  %unit = load i8, ptr %p, !dbg !22
  %first = trunc i8 %unit to i1
  %last = icmp slt i8 %unit, 0
  %bit = and i8 %unit, 2
  %second = icmp ne i8 %bit, 0
  %some = or i1 %first, %last
  %any = or i1 %some, %second
  ret i1 %any
}

; A use of all bits: too many to be listed.
; CHECK: whole load {{.*}} object='flags' field='' value='flags'
define i8 @whole(ptr %p) !dbg !30 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !31, metadata !DIExpression()), !dbg !32
  %unit = load i8, ptr %p, !dbg !32
  ret i8 %unit
}

declare void @llvm.dbg.value(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "bits.c", directory: "/")
!2 = !DISubroutineType(types: !{null})
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DICompositeType(tag: DW_TAG_structure_type, name: "flags", file: !1, size: 32, elements: !5)
!5 = !{!50, !51, !52, !53, !54, !55, !56, !57}
!6 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !4, size: 64)
!50 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !4, baseType: !6, size: 1, offset: 0, flags: DIFlagBitField, extraData: i64 0)
!51 = !DIDerivedType(tag: DW_TAG_member, name: "b", scope: !4, baseType: !6, size: 1, offset: 1, flags: DIFlagBitField, extraData: i64 0)
!52 = !DIDerivedType(tag: DW_TAG_member, name: "c", scope: !4, baseType: !6, size: 1, offset: 2, flags: DIFlagBitField, extraData: i64 0)
!53 = !DIDerivedType(tag: DW_TAG_member, name: "d", scope: !4, baseType: !6, size: 1, offset: 3, flags: DIFlagBitField, extraData: i64 0)
!54 = !DIDerivedType(tag: DW_TAG_member, name: "e", scope: !4, baseType: !6, size: 1, offset: 4, flags: DIFlagBitField, extraData: i64 0)
!55 = !DIDerivedType(tag: DW_TAG_member, name: "f", scope: !4, baseType: !6, size: 1, offset: 5, flags: DIFlagBitField, extraData: i64 0)
!56 = !DIDerivedType(tag: DW_TAG_member, name: "g", scope: !4, baseType: !6, size: 1, offset: 6, flags: DIFlagBitField, extraData: i64 0)
!57 = !DIDerivedType(tag: DW_TAG_member, name: "h", scope: !4, baseType: !6, size: 1, offset: 7, flags: DIFlagBitField, extraData: i64 0)

!10 = distinct !DISubprogram(name: "together", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "p", arg: 1, scope: !10, type: !7)
!12 = !DILocation(line: 1, scope: !10)

!20 = distinct !DISubprogram(name: "uses", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!21 = !DILocalVariable(name: "p", arg: 1, scope: !20, type: !7)
!22 = !DILocation(line: 1, scope: !20)

!30 = distinct !DISubprogram(name: "whole", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!31 = !DILocalVariable(name: "p", arg: 1, scope: !30, type: !7)
!32 = !DILocation(line: 1, scope: !30)
