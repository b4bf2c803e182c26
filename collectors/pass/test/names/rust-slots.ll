; Slots in which Rust's code without optimisation keeps what has no name in the source.
; RUN: opt -load-pass-plugin %plugin -passes='print<trackway-names>' -disable-output %s | FileCheck %s

; What the function returns is collected in a slot, and its parts are loaded.
; CHECK: returned store {{.*}} variable='return value' {{.*}} object='pair' field='right'
; CHECK: returned load {{.*}} variable='return value' {{.*}} object='pair' field='left'
define { i64, i64 } @returned(i64 %v) !dbg !10 {
  %slot = alloca [16 x i8], align 8
  %right = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %v, ptr %right, align 8, !dbg !11
  %a = load i64, ptr %slot, align 8, !dbg !11
  %b = load i64, ptr %right, align 8, !dbg !11
  %first = insertvalue { i64, i64 } poison, i64 %a, 0
  %both = insertvalue { i64, i64 } %first, i64 %b, 1
  ret { i64, i64 } %both
}

; A part of something else that is returned is not the result.
; CHECK: part store {{.*}} variable='temporary'
; CHECK-NOT: return value
define i64 @part(i64 %v) !dbg !20 {
  %slot = alloca [16 x i8], align 8
  store i64 %v, ptr %slot, align 8, !dbg !21
  %a = load i64, ptr %slot, align 8, !dbg !21
  ret i64 %a
}

; What is put together, and then moved as a whole into a variable.
; CHECK: moved store {{.*}} variable='temporary' {{.*}} object='pair' field='right'
define void @moved(i64 %v) !dbg !30 {
  %slot = alloca [16 x i8], align 8
  %named = alloca [16 x i8], align 8
  call void @llvm.dbg.declare(metadata ptr %named, metadata !31, metadata !DIExpression()), !dbg !32
  %right = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %v, ptr %right, align 8, !dbg !32
  call void @llvm.memcpy.p0.p0.i64(ptr %named, ptr %slot, i64 16, i1 false), !dbg !32
  ret void
}

; A copy of a part says nothing of the rest.
; CHECK: filled store {{.*}} variable='temporary' kind=
; CHECK-NOT: field='right'
define void @filled(i64 %v) !dbg !40 {
  %slot = alloca [24 x i8], align 8
  %named = alloca [16 x i8], align 8
  call void @llvm.dbg.declare(metadata ptr %named, metadata !41, metadata !DIExpression()), !dbg !42
  %second = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %v, ptr %second, align 8, !dbg !42
  call void @llvm.memcpy.p0.p0.i64(ptr %slot, ptr %named, i64 16, i1 false), !dbg !42
  ret void
}

; What is put together for a call.
; CHECK: passes store {{.*}} variable='temporary' {{.*}} object='pair' field='left'
define void @passes(i64 %v) !dbg !50 {
  %slot = alloca [16 x i8], align 8
  store i64 %v, ptr %slot, align 8, !dbg !51
  call void @takes(ptr %slot), !dbg !51
  ret void
}

define void @takes(ptr %pair) !dbg !60 {
  call void @llvm.dbg.declare(metadata ptr %pair, metadata !61, metadata !DIExpression()), !dbg !62
  ret void
}

; What a call has returned.
; CHECK: called store {{.*}} variable='returned()' {{.*}} object='pair' field='left'
; CHECK: called store {{.*}} variable='returned()' {{.*}} object='pair' field='right'
define void @called(i64 %v) !dbg !80 {
  %slot = alloca [16 x i8], align 8
  %both = call { i64, i64 } @returned(i64 %v), !dbg !81
  %a = extractvalue { i64, i64 } %both, 0
  %b = extractvalue { i64, i64 } %both, 1
  store i64 %a, ptr %slot, align 8, !dbg !81
  %right = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %b, ptr %right, align 8, !dbg !81
  ret void
}

; What a call has returned is a part of it.
; CHECK: begins store {{.*}} variable='temporary'
; CHECK: begins store {{.*}} variable='temporary'
define void @begins(i64 %v) !dbg !82 {
  %slot = alloca [24 x i8], align 8
  %a = call i64 @part(i64 %v), !dbg !83
  store i64 %a, ptr %slot, align 8, !dbg !83
  %right = getelementptr inbounds i8, ptr %slot, i64 8
  store i64 %v, ptr %right, align 8, !dbg !83
  ret void
}

; What a function has returned of which only the linkage name is known, in both schemes. Something that isn't returned as a
; whole may be a part of the slot.
; CHECK: foreign load {{.*}} variable='from_utf8()' kind=expression
; CHECK: foreign load {{.*}} variable='align_of()' kind=expression
; CHECK: foreign load {{.*}} variable='temporary'
; CHECK: foreign load {{.*}} variable='temporary'
define void @foreign() !dbg !84 {
  %older = alloca [16 x i8], align 8
  %newer = alloca [16 x i8], align 8
  %larger = alloca [24 x i8], align 8
  %unknown = alloca [16 x i8], align 8
  call void @_ZN4core3str8converts9from_utf817h0123456789abcdefE(ptr sret([16 x i8]) %older), !dbg !85
  call void @_RINvNtC3std3mem8align_ofjdE(ptr sret([16 x i8]) %newer), !dbg !85
  call void @_ZN4core3str8converts9from_utf817h0123456789abcdefE(ptr sret([16 x i8]) %larger), !dbg !85
  call void @unmangled(ptr sret([16 x i8]) %unknown), !dbg !85
  %a = load i64, ptr %older, align 8, !dbg !85
  %b = load i64, ptr %newer, align 8, !dbg !85
  %c = load i64, ptr %larger, align 8, !dbg !85
  %d = load i64, ptr %unknown, align 8, !dbg !85
  ret void
}

declare void @_ZN4core3str8converts9from_utf817h0123456789abcdefE(ptr sret([16 x i8]))
declare void @_RINvNtC3std3mem8align_ofjdE(ptr sret([16 x i8]))
declare void @unmangled(ptr sret([16 x i8]))
declare void @llvm.dbg.declare(metadata, metadata, metadata)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "slots.rs", directory: "/")
!2 = !DISubroutineType(types: !5)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DICompositeType(tag: DW_TAG_structure_type, name: "pair", file: !1, size: 128, elements: !6)
!5 = !{!4, !9}
!6 = !{!7, !8}
!7 = !DIDerivedType(tag: DW_TAG_member, name: "left", scope: !4, baseType: !9, size: 64)
!8 = !DIDerivedType(tag: DW_TAG_member, name: "right", scope: !4, baseType: !9, size: 64, offset: 64)
!9 = !DIBasicType(name: "u64", size: 64, encoding: DW_ATE_unsigned)
!70 = !DISubroutineType(types: !71)
!71 = !{null, !9}
!72 = !DISubroutineType(types: !73)
!73 = !{!9, !9}

!10 = distinct !DISubprogram(name: "returned<u64>", file: !1, unit: !0, type: !2, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 1, scope: !10)
!20 = distinct !DISubprogram(name: "part", file: !1, unit: !0, type: !72, spFlags: DISPFlagDefinition)
!21 = !DILocation(line: 2, scope: !20)
!30 = distinct !DISubprogram(name: "moved", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!31 = !DILocalVariable(name: "pair", scope: !30, type: !4)
!32 = !DILocation(line: 3, scope: !30)
!40 = distinct !DISubprogram(name: "filled", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!41 = !DILocalVariable(name: "pair", scope: !40, type: !4)
!42 = !DILocation(line: 4, scope: !40)
!50 = distinct !DISubprogram(name: "passes", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!51 = !DILocation(line: 5, scope: !50)
!60 = distinct !DISubprogram(name: "takes", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!61 = !DILocalVariable(name: "pair", arg: 1, scope: !60, type: !4)
!62 = !DILocation(line: 6, scope: !60)
!80 = distinct !DISubprogram(name: "called<u64>", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!81 = !DILocation(line: 7, scope: !80)
!82 = distinct !DISubprogram(name: "begins", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!83 = !DILocation(line: 8, scope: !82)
!84 = distinct !DISubprogram(name: "foreign", file: !1, unit: !0, type: !70, spFlags: DISPFlagDefinition)
!85 = !DILocation(line: 9, scope: !84)
