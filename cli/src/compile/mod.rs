//! `trackway cc` and `trackway c++`: clang with the pass and the runtime added, and otherwise untouched.

mod command;
mod driver_options;
mod invocation;
mod options;
mod response_file;

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;

use crate::failure::Failure;
use crate::installation::Installation;
pub use command::Language;
use invocation::Invocation;
use options::Options;

/// Replaces this process by the compiler; returns only if that fails.
pub fn run(language: Language, arguments: Vec<OsString>) -> Failure {
    match prepare(language, arguments) {
        Ok(mut command) => {
            let error = command.exec();
            command::exec_failure(command.get_program(), language, &error)
        }
        Err(failure) => failure,
    }
}

fn prepare(language: Language, arguments: Vec<OsString>) -> Result<std::process::Command, Failure> {
    let environment = env::var_os(options::ENVIRONMENT_VARIABLE);
    let (options, arguments) = Options::read(environment.as_deref(), arguments)?;
    let invocation = Invocation::parse(&arguments);
    let clang = command::compiler(&options, language, |name| env::var_os(name));
    let arguments = command::arguments(invocation, &Installation::locate(), arguments)?;
    let mut command = std::process::Command::new(clang);
    command
        .args(arguments)
        .env("TRACKWAY_PASS_OPTIONS", options.for_pass());
    Ok(command)
}
