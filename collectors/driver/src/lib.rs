//! `trackway cc`, `c++` and `fc`: clang and flang with the pass and the runtime added, and otherwise untouched; `rustc` and
//! `cargo` likewise.

mod arguments;
mod command;
mod compiler;
mod driver_options;
mod installation;
mod instruction_set;
mod invocation;
mod language;
mod link;
mod llvm_version;
mod options;
mod response_file;
mod rust;
mod target;

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;

use trackway_answers::failure::Failure;

use invocation::Invocation;
use options::Options;

pub use arguments::{CompileArguments, FortranArguments};
pub use installation::Installation;
pub use instruction_set::InstructionSet;
pub use language::Language;
pub use rust::{is_wrapper_call, run_cargo, run_rustc, run_wrapper, CargoArguments, RustcArguments};

/// Replaces this process by the compiler; returns only if that fails.
pub fn run(language: Language, arguments: Vec<OsString>) -> Failure {
    match prepare(language, arguments) {
        Ok(mut command) => {
            let error = command.exec();
            compiler::exec_failure(command.get_program(), language, &error)
        }
        Err(failure) => failure,
    }
}

/// The major version of LLVM that a clang is built on.
///
/// # Errors
/// If it can't be started, or doesn't say so.
pub fn major_version(compiler: &OsStr) -> Result<u32, Failure> {
    llvm_version::of_compiler(compiler, Language::C)
}

/// The compiler that a call without options goes to.
pub fn usual_compiler(language: Language) -> OsString {
    command::compiler(&Options::default(), language, |name| env::var_os(name))
}

fn prepare(language: Language, arguments: Vec<OsString>) -> Result<std::process::Command, Failure> {
    let environment = env::var_os(options::ENVIRONMENT_VARIABLE);
    let (options, arguments) = Options::read(environment.as_deref(), arguments)?;
    let invocation = Invocation::parse(&arguments, language);
    let compiler = command::compiler(&options, language, |name| env::var_os(name));
    let installation = Installation::locate();
    let driver = compiler::Driver {
        compiler: &compiler,
        language,
        inherits_threads: options.inherit_threads,
        streams: options.streams(),
    };
    let arguments = command::arguments(invocation, &driver, &installation, arguments)?;
    let mut command = std::process::Command::new(compiler);
    command
        .args(arguments)
        .env("TRACKWAY_PASS_OPTIONS", options.for_pass());
    Ok(command)
}
