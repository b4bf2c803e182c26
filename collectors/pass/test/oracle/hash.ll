; The function's hash is FNV-1a-64 over source file name, zero byte, linkage name; calls carry a line when there is one.
; RUN: env TRACKWAY_PASS_OPTIONS=only-oracle=1:calls=0 opt -load-pass-plugin %plugin -passes='trackway-record,verify' -S %s -o %t
; RUN: %python -c "h = 0xcbf29ce484222325; h = [h := (h ^ b) * 0x100000001b3 %% 2**64 for b in b'source.c\0' + b'named'][-1]; print('HASH:', h - (h >> 63 << 64))" > %t.expected
; RUN: FileCheck %s < %t
; RUN: sed -n 's/.*oracle_access(i64 \([-0-9]*\), i64 0.*/HASH: \1/p' %t | diff - %t.expected

source_filename = "source.c"

define i32 @named(ptr %p) !dbg !4 {
; CHECK: call void @__trackway_oracle_access({{.*}} !dbg [[LINE:![0-9]+]]
; CHECK: [[LINE]] = !DILocation(line: 0, scope:
  %v = load i32, ptr %p
  ret i32 %v
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "source.c", directory: "/")
!2 = !DISubroutineType(types: !{null})
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "named", file: !1, line: 1, type: !2, spFlags: DISPFlagDefinition, unit: !0)
