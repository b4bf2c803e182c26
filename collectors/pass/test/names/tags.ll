; An access that lost its label and the way to its object bears the name of all accesses with its tag. The structures here
; have no names of their own, so that the tag's node says nothing.
; RUN: opt -load-pass-plugin %plugin -passes=trackway-attribution -S %s \
; RUN:   | sed 's/load \(i..\), ptr %\(low\|high\|end\),/load \1, ptr %lost,/; s/, !llvm.access.group ![0-9]*//' \
; RUN:   | opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output | FileCheck %s

; CHECK: f load part=0 variable='' kind=unknown object='range' field='low' value='long'
; Members of different structures may share a tag.
; CHECK: g load part=0 variable='' kind=unknown object='' field='' value='int'
; CHECK: g load part=0 variable='' kind=unknown object='' field='' value='int'

%range = type { i64, i32 }

define i64 @f(ptr byval(%range) %low, i64 %number) !dbg !10 {
  call void @llvm.dbg.declare(metadata ptr %low, metadata !11, metadata !DIExpression()), !dbg !12
  %lost = inttoptr i64 %number to ptr
  %v = load i64, ptr %low, !tbaa !20
  ret i64 %v
}

define i32 @g(ptr byval(%range) %p, ptr byval(%range) %q, i64 %number) !dbg !30 {
  call void @llvm.dbg.declare(metadata ptr %p, metadata !31, metadata !DIExpression()), !dbg !33
  call void @llvm.dbg.declare(metadata ptr %q, metadata !32, metadata !DIExpression()), !dbg !33
  %lost = inttoptr i64 %number to ptr
  %high = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %high, !tbaa !21
  %end = getelementptr i8, ptr %q, i64 8
  %w = load i32, ptr %end, !tbaa !21
  %sum = add i32 %v, %w
  ret i32 %sum
}

declare void @llvm.dbg.declare(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "tags.c", directory: "/")
!2 = !DISubroutineType(types: !{null})
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DIDerivedType(tag: DW_TAG_typedef, name: "range", file: !1, baseType: !5)
!5 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !1, size: 128, elements: !6)
!6 = !{!7, !8}
!7 = !DIDerivedType(tag: DW_TAG_member, name: "low", scope: !5, baseType: !40, size: 64)
!8 = !DIDerivedType(tag: DW_TAG_member, name: "high", scope: !5, baseType: !41, size: 32, offset: 64)
!40 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!41 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!44 = !DIDerivedType(tag: DW_TAG_typedef, name: "span", file: !1, baseType: !45)
!45 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !1, size: 128, elements: !46)
!46 = !{!47, !48}
!47 = !DIDerivedType(tag: DW_TAG_member, name: "begin", scope: !45, baseType: !40, size: 64)
!48 = !DIDerivedType(tag: DW_TAG_member, name: "end", scope: !45, baseType: !41, size: 32, offset: 64)

!10 = distinct !DISubprogram(name: "f", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "p", arg: 1, scope: !10, type: !4)
!12 = !DILocation(line: 1, scope: !10)
!30 = distinct !DISubprogram(name: "g", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!31 = !DILocalVariable(name: "p", arg: 1, scope: !30, type: !4)
!32 = !DILocalVariable(name: "q", arg: 2, scope: !30, type: !44)
!33 = !DILocation(line: 1, scope: !30)

!20 = !{!22, !23, i64 0}
!21 = !{!22, !24, i64 8}
!22 = !{!"", !23, i64 0, !24, i64 8}
!23 = !{!"long", !25, i64 0}
!24 = !{!"int", !25, i64 0}
!25 = !{!"omnipotent char", !26, i64 0}
!26 = !{!"Simple C/C++ TBAA"}
