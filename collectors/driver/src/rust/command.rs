//! What rustc is given besides the user's arguments.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use trackway_answers::failure::Failure;

use super::invocation::Invocation;
use crate::installation::Installation;
use crate::instruction_set::InstructionSet;
use crate::link;

/// The variable in which the pass finds its options.
pub const PASS_OPTIONS: &str = "TRACKWAY_PASS_OPTIONS";

/// What comes into a crate.
pub struct Parts {
    pub plugin: PathBuf,
    /// For the linker.
    pub linked: Vec<OsString>,
}

/// The linker's arguments for the crate; none if it isn't linked.
pub fn linked_parts(
    invocation: &Invocation,
    inherits_threads: bool,
    installation: &Installation,
) -> Result<Vec<OsString>, Failure> {
    let Some(output) = invocation.output() else {
        return Ok(Vec::new());
    };
    let target = invocation.target.as_ref().map(|target| target.to_string_lossy());
    let set = target.as_deref().map(instruction_set).transpose()?;
    let linked = link::parts(output, set, inherits_threads, installation)?;
    let files = linked.files.into_iter().map(PathBuf::into_os_string);
    Ok(files.chain(linked.options).collect())
}

/// That of `x86_64-unknown-linux-gnu`. The runtime needs glibc.
fn instruction_set(target: &str) -> Result<InstructionSet, Failure> {
    let plain = target.replace("riscv64gc-", "riscv64-");
    let known = InstructionSet::of_triple(&plain).filter(|_| target.ends_with("-linux-gnu"));
    known.ok_or_else(|| {
        Failure::new(format!(
            "--target {target}: no runtime for such programs; there are those for Linux with glibc \
             (x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu, ...)"
        ))
    })
}

/// Adds the arguments. The defaults come first, so that the user's have the last word. A plug-in is an unstable option, so
/// a stable compiler has to be told that such options are wanted.
pub fn instrument(command: &mut Command, parts: &Parts, user: Vec<OsString>) {
    let mut plugin = OsString::from("-Zllvm-plugins=");
    plugin.push(&parts.plugin);
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-C", "debuginfo=2", "-C", "codegen-units=1"])
        .args(user)
        .arg(plugin);
    for word in &parts.linked {
        let mut option = OsString::from("link-arg=");
        option.push(word);
        command.arg("-C").arg(option);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn installation() -> (tempfile::TempDir, Installation) {
        let root = tempfile::tempdir().unwrap();
        let parts = root.path().join("lib/trackway");
        fs::create_dir_all(&parts).unwrap();
        fs::write(parts.join("libtrackway.a"), "").unwrap();
        let installation = Installation::at(root.path());
        (root, installation)
    }

    fn linked(line: &str) -> Result<usize, Failure> {
        let (_root, installation) = installation();
        linked_parts(&Invocation::parse(&words(line)), false, &installation).map(|parts| parts.len())
    }

    #[test]
    fn programs_get_the_runtime_and_export_it() {
        assert_eq!(linked("a.rs").unwrap(), 2);
        assert_eq!(linked("--crate-type cdylib a.rs").unwrap(), 1);
        assert_eq!(linked("--crate-type lib a.rs").unwrap(), 0);
    }

    #[test]
    fn targets_without_glibc_are_refused() {
        let message = linked("a.rs --target x86_64-unknown-linux-musl")
            .unwrap_err()
            .to_string();
        assert!(message.contains("musl") && message.contains("glibc"), "{message}");
        assert!(linked("--crate-type lib a.rs --target x86_64-unknown-linux-musl").is_ok());
    }

    #[test]
    fn the_users_arguments_override_defaults() {
        let parts = Parts {
            plugin: "/p.so".into(),
            linked: words("/r.a"),
        };
        let mut command = Command::new("rustc");
        instrument(&mut command, &parts, words("-g a.rs"));
        let all: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            all.join(" "),
            "-C debuginfo=2 -C codegen-units=1 -g a.rs -Zllvm-plugins=/p.so -C link-arg=/r.a"
        );
    }
}
