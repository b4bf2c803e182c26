//! Arguments of `trackway cc`, `c++` and `fc`, for help: compiler calls bypass the parser.

use std::ffi::OsString;

use clap::Args;

/// Compile or link C: clang with recording added, a drop-in for CC=
///
/// Options of its own stand before the first compiler argument, or in TRACKWAY_CC_OPTIONS:
/// --count (count accesses by region of interest instead of recording them), --region=GLOB (functions that are regions),
/// --inherit=threads (when linking: threads count for the regions that are open where they are created),
/// --oracle (also report each access by a call, for `trackway verify`), --calls=0|1 (record function entry and exit),
/// --order=0|1 (record when threads synchronise, for the order between them),
/// --place=start|early|late (where in the pipeline accesses are taken; default late), --ignorelist=FILE (as
/// -fsanitize-ignorelist=), --allocators=FILE, --library=0|1 (record what C library functions read and write),
/// --library-effects=FILE (the same of further functions), --clang=PATH (default $TRACKWAY_CLANG, $TRACKWAY_CLANGXX, clang-22,
/// clang++-22; any version of LLVM that the installation has a plug-in for). Everything else goes to clang untouched, --version too; --help
/// alone shows this before clang's help. Links named trackway-cc and
/// trackway-c++ do the same for tools that want the compiler to be one word.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "Examples:\n  CC='trackway cc' CXX='trackway c++' ./configure && make\n  \
                       trackway cc -O2 -o prog prog.c\n  trackway cc --count --region='solve*' -O2 -o prog prog.c\n  \
                       trackway cc --oracle -O2 -o prog prog.c\n  \
                       TRACKWAY_CC_OPTIONS='--calls=1' make CC='trackway cc'"
)]
pub struct CompileArguments {
    /// Arguments of clang
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// Compile or link Fortran: flang with recording added, a drop-in for FC=
///
/// Options of its own as for `trackway cc`, but --flang=PATH (default $TRACKWAY_FLANG, flang-22) in place of --clang=.
/// Everything else goes to flang untouched, --help and --version too. A link named trackway-fc does the same.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "Examples:\n  trackway fc -O2 -o prog prog.f90\n  \
                       FC='trackway fc' ./configure && make"
)]
pub struct FortranArguments {
    /// Arguments of flang
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}
