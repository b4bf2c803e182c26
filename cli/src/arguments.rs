//! The command line: one definition for parsing, help and completions.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const EXIT_STATUS: &str =
    "Exit status: 0 on success, 1 if a check found a difference, 2 on a wrong command line or \
                           an error. `record` returns the status of the program that it ran.";

/// Records every load and store of a native Linux program and names the data that misses the cache.
#[derive(Debug, Parser)]
#[command(name = "trackway", version, after_help = EXIT_STATUS, propagate_version = false)]
pub struct CommandLine {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Cc(CompileArguments),
    #[command(name = "c++")]
    Cxx(CompileArguments),
    Completions(CompletionsArguments),
}

/// Compile or link C: clang with recording added, a drop-in for CC=
///
/// Options of its own stand before the first compiler argument, or in TRACKWAY_CC_OPTIONS:
/// --oracle (also report each access by a call, for `trackway verify`), --calls=0|1 (record function entry and exit),
/// --place=start|early|late (where in the pipeline accesses are taken; default late), --ignorelist=FILE (as
/// -fsanitize-ignorelist=), --allocators=FILE, --clang=PATH (default $TRACKWAY_CLANG, $TRACKWAY_CLANGXX, clang-19,
/// clang++-19). Everything else goes to clang untouched, --help and --version too. Links named trackway-cc and
/// trackway-c++ do the same for tools that want the compiler to be one word.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "Examples:\n  CC='trackway cc' CXX='trackway c++' ./configure && make\n  \
                       trackway cc -O2 -o prog prog.c\n  trackway cc --oracle -O2 -o prog prog.c\n  \
                       TRACKWAY_CC_OPTIONS='--calls=1' make CC='trackway cc'"
)]
pub struct CompileArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example: trackway completions bash > ~/.local/share/bash-completion/completions/trackway"
)]
pub struct CompletionsArguments {
    pub shell: Shell,
}
