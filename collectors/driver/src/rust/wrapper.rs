//! What cargo calls in place of rustc.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use trackway_answers::failure::Failure;

use super::command::{self, Parts};
use super::compiler;
use super::fingerprint;
use super::invocation::Invocation;
use crate::installation::Installation;

/// The variable with the pass for cargo's rustc; it is set for calls from cargo, and for them alone.
pub const PLUGIN: &str = "TRACKWAY_CARGO_PLUGIN";
pub const INHERITS_THREADS: &str = "TRACKWAY_CARGO_INHERITS";

/// Whether cargo calls, and these words are rustc and its arguments.
pub fn is_call(words: &[OsString]) -> bool {
    let Some(first) = words.first().filter(|_| env::var_os(PLUGIN).is_some()) else {
        return false;
    };
    let name = Path::new(first).file_name().unwrap_or_default();
    name == "rustc" || name == "clippy-driver" || env::var_os("RUSTC").as_ref() == Some(first)
}

pub fn run(mut words: Vec<OsString>) -> Result<ExitCode, Failure> {
    let program = words.remove(0);
    let invocation = Invocation::parse(&words);
    let mut command = Command::new(&program);
    if !is_instrumented(&invocation) {
        return Err(compiler::start_failure(&program, &command.args(words).exec()));
    }
    let inherits = env::var_os(INHERITS_THREADS).is_some_and(|value| value == "1");
    let parts = Parts {
        plugin: env::var_os(PLUGIN).unwrap_or_default().into(),
        linked: command::linked_parts(&invocation, inherits, &Installation::locate())?,
    };
    command::instrument(&mut command, &parts, words);
    let status = command
        .status()
        .map_err(|error| compiler::start_failure(&program, &error))?;
    if status.success() {
        note_fingerprint(&invocation)?;
    }
    Ok(exit_code(status))
}

/// What is made for the target: cargo names the target there, and nowhere else. The functions that compiled code calls
/// unseen must not call the runtime, which calls them.
fn is_instrumented(invocation: &Invocation) -> bool {
    const NEVER: &str = "compiler_builtins";
    let name = invocation.crate_name.as_deref();
    invocation.links && invocation.target.is_some() && name != Some(OsStr::new(NEVER))
}

fn note_fingerprint(invocation: &Invocation) -> Result<(), Failure> {
    let Some((value, list)) = env::var(fingerprint::VARIABLE)
        .ok()
        .zip(invocation.dependencies())
    else {
        return Ok(());
    };
    if !list.exists() {
        return Ok(());
    }
    fingerprint::note(&list, &value).map_err(|error| Failure::about(&list, error.to_string()))
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| Some(128 + status.signal()?))
        .unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instrumented(line: &str) -> bool {
        let words: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        is_instrumented(&Invocation::parse(&words))
    }

    #[test]
    fn only_what_is_made_for_the_target_records() {
        let target = "--emit=dep-info,link --target x86_64-unknown-linux-gnu";
        assert!(instrumented(&format!("--crate-name a a.rs {target}")));
        assert!(!instrumented(
            "--crate-name build_script_build build.rs --emit=dep-info,link"
        ));
        assert!(!instrumented(
            "--crate-name m m.rs --crate-type proc-macro --emit=link"
        ));
        assert!(!instrumented(
            "--crate-name a a.rs --emit=metadata --target x86_64-unknown-linux-gnu"
        ));
        assert!(!instrumented(&format!(
            "--crate-name compiler_builtins lib.rs {target}"
        )));
        assert!(!instrumented(
            "- --crate-name ___ --print=cfg --target x86_64-unknown-linux-gnu"
        ));
    }
}
