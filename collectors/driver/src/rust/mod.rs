//! `trackway rustc` and `trackway cargo`: Rust's compiler with the pass and the runtime added, alone or under cargo.

mod arguments;
mod cargo;
mod command;
mod compiler;
mod fingerprint;
mod invocation;
mod wrapper;

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use trackway_answers::failure::Failure;

use crate::installation::Installation;
use crate::options::{self, Options};
use command::Parts;
use compiler::Compiler;
use invocation::Invocation;

pub use arguments::{CargoArguments, RustcArguments};
pub use wrapper::is_call as is_wrapper_call;

/// Replaces this process by rustc; returns only if that fails.
pub fn run_rustc(arguments: Vec<OsString>) -> Failure {
    match prepare_rustc(arguments) {
        Ok(command) => replace_by(command),
        Err(failure) => failure,
    }
}

/// Replaces this process by cargo, which calls this program back in place of rustc; returns only if that fails.
pub fn run_cargo(arguments: Vec<OsString>) -> Failure {
    match prepare_cargo(arguments) {
        Ok(command) => replace_by(command),
        Err(failure) => failure,
    }
}

fn replace_by(mut command: Command) -> Failure {
    let error = command.exec();
    compiler::start_failure(command.get_program(), &error)
}

/// Does what cargo wants of rustc; the arguments are rustc's name and its arguments.
///
/// # Errors
/// If rustc can't be started, or a part of the installation is missing.
pub fn run_wrapper(arguments: Vec<OsString>) -> Result<ExitCode, Failure> {
    wrapper::run(arguments)
}

fn read_options(arguments: Vec<OsString>) -> Result<(Options, Vec<OsString>), Failure> {
    let environment = env::var_os(options::ENVIRONMENT_VARIABLE);
    Options::read(environment.as_deref(), arguments)
}

fn prepare_rustc(arguments: Vec<OsString>) -> Result<Command, Failure> {
    let (options, arguments) = read_options(arguments)?;
    let program = compiler::rustc(|name| env::var_os(name));
    let invocation = Invocation::parse(&arguments);
    let mut command = Command::new(&program);
    if !invocation.generates_code {
        command.args(arguments);
        return Ok(command);
    }
    let (toolchain, rest) = compiler::split_toolchain(arguments);
    let compiler = Compiler::ask(&program, toolchain.as_deref())?;
    let installation = Installation::locate();
    let parts = Parts {
        plugin: compiler.plugin(&installation)?,
        linked: command::linked_parts(&invocation, options.inherit_threads, &installation)?,
    };
    command.args(toolchain);
    command::instrument(&mut command, &parts, rest);
    command.env(command::PASS_OPTIONS, options.for_pass());
    Ok(command)
}

fn prepare_cargo(arguments: Vec<OsString>) -> Result<Command, Failure> {
    let (with_std, arguments) = cargo::split_std(cargo::without_own_name(arguments));
    let (options, arguments) = read_options(arguments)?;
    let (late_std, arguments) = cargo::split_std(arguments);
    let (toolchain, rest) = compiler::split_toolchain(arguments);
    let compiler = Compiler::ask(&compiler::rustc(|name| env::var_os(name)), toolchain.as_deref())?;
    let setting = cargo::Setting::find(&options, compiler, toolchain, with_std || late_std)?;
    setting.command(rest)
}
