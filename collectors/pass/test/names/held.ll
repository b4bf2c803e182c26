; Pointers without labels, named by the variables that hold them.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output %s | FileCheck %s

; A pointer to nothing in particular says less than one to a structure.
; CHECK: typed load {{.*}} variable='arc' kind=local object='arc' field='ident' value='int'
define i32 @typed(ptr %p) !dbg !10 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !11, metadata !DIExpression()), !dbg !20
  call void @llvm.dbg.value(metadata ptr %p, metadata !12, metadata !DIExpression()), !dbg !20
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !20
  ret i32 %v
}

; The variable of the inlined function in which the access stands; behind it that of its caller.
; CHECK: inlined load {{.*}} variable='inner' kind=parameter object='arc' field='ident'
; CHECK: inlined load {{.*}} variable='arc' kind=local object='arc' field='ident'
define i32 @inlined(ptr %p) !dbg !13 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !14, metadata !DIExpression()), !dbg !21
  call void @llvm.dbg.value(metadata ptr %p, metadata !16, metadata !DIExpression()), !dbg !22
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !22
  %w = load i32, ptr %field, !dbg !21
  %sum = add i32 %v, %w
  ret i32 %sum
}

; Two variables of one function: both names. A pointer to the first member is no other object.
; CHECK: both load {{.*}} variable='{arc|other}' kind=local object='arc' field='ident'
; CHECK: member load {{.*}} variable='arc' kind=local object='arc' field='ident'
define i32 @both(ptr %p) !dbg !30 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !31, metadata !DIExpression()), !dbg !33
  call void @llvm.dbg.value(metadata ptr %p, metadata !32, metadata !DIExpression()), !dbg !33
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !33
  ret i32 %v
}
define i32 @member(ptr %p) !dbg !40 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !41, metadata !DIExpression()), !dbg !43
  call void @llvm.dbg.value(metadata ptr %p, metadata !42, metadata !DIExpression()), !dbg !43
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !43
  ret i32 %v
}

; The address is made of a number, but a variable holds it.
; CHECK: computed load {{.*}} variable='arc' kind=local object='arc' field='ident'
define i32 @computed(i64 %number) !dbg !50 {
  %p = inttoptr i64 %number to ptr
  %q = getelementptr i8, ptr %p, i64 64
  call void @llvm.dbg.value(metadata ptr %q, metadata !51, metadata !DIExpression()), !dbg !52
  %field = getelementptr i8, ptr %q, i64 8
  %v = load i32, ptr %field, !dbg !52
  ret i32 %v
}

; Pointers to different structures, of which nothing says which one it is: the members of both.
; CHECK: either load {{.*}} variable='{arc|edge}' kind=local object='{arc|edge}' field='{ident|weight}' value='int'
define i32 @either(ptr %p) !dbg !60 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !61, metadata !DIExpression()), !dbg !63
  call void @llvm.dbg.value(metadata ptr %p, metadata !62, metadata !DIExpression()), !dbg !63
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !63
  ret i32 %v
}

; An iterator consists of its pointer.
; CHECK: iterated load {{.*}} variable='it' kind=local object='arc' field='ident' value='int'
define i32 @iterated(ptr %p) !dbg !80 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !81, metadata !DIExpression()), !dbg !82
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !82
  ret i32 %v
}

; What only another block of the source can name says nothing of this one.
; CHECK: elsewhere load {{.*}} variable='' kind=unknown object='' field=''
define i32 @elsewhere(ptr %p) !dbg !90 {
  call void @llvm.dbg.value(metadata ptr %p, metadata !91, metadata !DIExpression()), !dbg !93
  %field = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %field, !dbg !94
  ret i32 %v
}

declare void @llvm.dbg.value(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "held.c", directory: "/")
!2 = !DISubroutineType(types: !{null})
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DICompositeType(tag: DW_TAG_structure_type, name: "arc", file: !1, size: 128, elements: !5)
!5 = !{!6, !7}
!6 = !DIDerivedType(tag: DW_TAG_member, name: "cost", scope: !4, baseType: !8, size: 64)
!7 = !DIDerivedType(tag: DW_TAG_member, name: "ident", scope: !4, baseType: !9, size: 32, offset: 64)
!8 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!70 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !4, size: 64)
!71 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, size: 64)
!72 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !8, size: 64)
!73 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !74, size: 64)
!74 = !DICompositeType(tag: DW_TAG_structure_type, name: "edge", file: !1, size: 128, elements: !75)
!75 = !{!76, !77}
!76 = !DIDerivedType(tag: DW_TAG_member, name: "left", scope: !74, baseType: !8, size: 64)
!77 = !DIDerivedType(tag: DW_TAG_member, name: "weight", scope: !74, baseType: !9, size: 32, offset: 64)

!10 = distinct !DISubprogram(name: "typed", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "opaque", arg: 1, scope: !10, type: !71)
!12 = !DILocalVariable(name: "arc", scope: !10, type: !70)
!20 = !DILocation(line: 1, scope: !10)

!13 = distinct !DISubprogram(name: "inlined", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!14 = !DILocalVariable(name: "arc", scope: !13, type: !70)
!15 = distinct !DISubprogram(name: "callee", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!16 = !DILocalVariable(name: "inner", arg: 1, scope: !15, type: !70)
!21 = !DILocation(line: 1, scope: !13)
!22 = !DILocation(line: 2, scope: !15, inlinedAt: !23)
!23 = distinct !DILocation(line: 3, scope: !13)

!30 = distinct !DISubprogram(name: "both", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!31 = !DILocalVariable(name: "arc", scope: !30, type: !70)
!32 = !DILocalVariable(name: "other", scope: !30, type: !70)
!33 = !DILocation(line: 1, scope: !30)

!40 = distinct !DISubprogram(name: "member", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!41 = !DILocalVariable(name: "arc", scope: !40, type: !70)
!42 = !DILocalVariable(name: "cost", scope: !40, type: !72)
!43 = !DILocation(line: 1, scope: !40)

!50 = distinct !DISubprogram(name: "computed", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!51 = !DILocalVariable(name: "arc", scope: !50, type: !70)
!52 = !DILocation(line: 1, scope: !50)

!60 = distinct !DISubprogram(name: "either", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!61 = !DILocalVariable(name: "arc", scope: !60, type: !70)
!62 = !DILocalVariable(name: "edge", scope: !60, type: !73)
!63 = !DILocation(line: 1, scope: !60)

!80 = distinct !DISubprogram(name: "iterated", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!81 = !DILocalVariable(name: "it", scope: !80, type: !83)
!82 = !DILocation(line: 1, scope: !80)
!83 = !DICompositeType(tag: DW_TAG_class_type, name: "iterator", file: !1, size: 64, elements: !84)
!84 = !{!85}
!85 = !DIDerivedType(tag: DW_TAG_member, name: "current", scope: !83, baseType: !70, size: 64)

!90 = distinct !DISubprogram(name: "elsewhere", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!91 = !DILocalVariable(name: "arc", scope: !92, type: !70)
!92 = distinct !DILexicalBlock(scope: !90, file: !1, line: 2)
!93 = !DILocation(line: 2, scope: !92)
!94 = !DILocation(line: 1, scope: !90)
