//! Arguments of `trackway rustc` and `trackway cargo`, for help: calls bypass the parser.

use std::ffi::OsString;

use clap::Args;

/// Compile or link Rust: rustc with recording added
///
/// Options of its own stand before rustc's, or in TRACKWAY_CC_OPTIONS, as for `trackway cc`. Everything else goes to rustc
/// untouched, --help and --version too; `+TOOLCHAIN` comes first of that. The toolchain has to be built on a version of LLVM
/// that the installation has a plug-in for: `rustc -vV` shows it. TRACKWAY_RUSTC or RUSTC names another rustc. Debug
/// information and one codegen unit are the defaults; -C debuginfo= and -C codegen-units= override them. Crates
/// that several commands compile are better built by `trackway cargo`.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "Examples:\n  trackway rustc -O prog.rs -o prog\n  trackway rustc +1.95.0 -O prog.rs\n  \
                       trackway rustc --oracle -C opt-level=3 prog.rs"
)]
pub struct RustcArguments {
    /// Arguments of rustc
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// Build, run or test crates: cargo with recording added to what is built for the target
///
/// Build scripts and procedural macros are compiled as they are. What is built lies in target/trackway, apart from the usual
/// builds. Options of its own stand before cargo's, or in TRACKWAY_CC_OPTIONS, as for `trackway cc`, and --std: record the
/// standard library as well, which is compiled for that (needs `rustup component add rust-src`).
///
/// A link named cargo-trackway in PATH makes it `cargo trackway`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway cargo build --release\n  \
                  trackway record target/trackway/x86_64-unknown-linux-gnu/release/prog\n  \
                  trackway record -- trackway cargo run --release\n  \
                  trackway cargo test\n  trackway cargo --std build --release\n  \
                  trackway cargo --oracle build\n  cargo trackway bench")]
pub struct CargoArguments {
    /// Arguments of cargo
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}
