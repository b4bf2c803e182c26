//! Which rustc is called, and what it says of itself.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use trackway_answers::failure::Failure;

use crate::installation::Installation;

/// What `rustc -vV` says.
#[derive(Debug, PartialEq, Eq)]
pub struct Compiler {
    pub program: OsString,
    /// `1.95.0`
    pub release: String,
    /// The triple that it runs on, and compiles for if nothing else is asked.
    pub host: String,
    /// Major version
    pub llvm: u32,
}

/// The rustc that a call goes to.
pub fn rustc(variable: impl Fn(&str) -> Option<OsString>) -> OsString {
    ["TRACKWAY_RUSTC", "RUSTC"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()))
        .unwrap_or_else(|| "rustc".into())
}

/// Takes `+nightly` off the front: rustup's proxies want to have it first.
pub fn split_toolchain(mut arguments: Vec<OsString>) -> (Option<OsString>, Vec<OsString>) {
    let named = arguments
        .first()
        .is_some_and(|first| first.as_bytes().starts_with(b"+"));
    let toolchain = named.then(|| arguments.remove(0));
    (toolchain, arguments)
}

impl Compiler {
    pub fn ask(program: &OsStr, toolchain: Option<&OsStr>) -> Result<Compiler, Failure> {
        let answer = Command::new(program)
            .args(toolchain)
            .arg("-vV")
            .output()
            .map_err(|error| start_failure(program, &error))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        Compiler::read(program, &text).ok_or_else(|| {
            let complaint = String::from_utf8_lossy(&answer.stderr);
            let said = if answer.status.success() { text } else { complaint };
            let said = said.lines().next().unwrap_or_default();
            Failure::new(format!(
                "{}: can't tell its version of LLVM: `-vV` answers {:?}",
                program.to_string_lossy(),
                said
            ))
        })
    }

    fn read(program: &OsStr, text: &str) -> Option<Compiler> {
        let value = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        Some(Compiler {
            program: program.into(),
            release: value("release")?.into(),
            host: value("host")?.into(),
            llvm: value("LLVM version")?.split('.').next()?.parse().ok()?,
        })
    }

    /// The pass for this compiler.
    pub fn plugin(&self, installation: &Installation) -> Result<PathBuf, Failure> {
        let versions = installation.plugin_versions();
        if versions.is_empty() || versions.contains(&self.llvm) {
            return installation.pass_plugin(&self.program, self.llvm);
        }
        let versions: Vec<String> = versions.iter().map(u32::to_string).collect();
        Err(Failure::new(format!(
            "{} {} is built on LLVM {}, and this installation has plug-ins for LLVM {}; choose a toolchain of such a \
             version (`rustc +TOOLCHAIN -vV` shows it; 1.95 has LLVM 22), or build a plug-in by \
             `make pass LLVM={}`",
            self.program.to_string_lossy(),
            self.release,
            self.llvm,
            versions.join(", "),
            self.llvm
        )))
    }
}

/// Explains why rustc or cargo could not be started.
pub fn start_failure(program: &OsStr, error: &io::Error) -> Failure {
    let program = program.to_string_lossy();
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => {
            "; install Rust (https://rustup.rs), add its folder to PATH, or name another one in TRACKWAY_RUSTC or \
             TRACKWAY_CARGO"
        }
        _ => "",
    };
    Failure::new(format!("{program}: {error}{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const ANSWER: &str =
        "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n\
                          release: 1.95.0\nLLVM version: 22.1.2\n";

    #[test]
    fn the_compiler_tells_its_versions() {
        let compiler = Compiler::read(OsStr::new("rustc"), ANSWER).unwrap();
        assert_eq!((compiler.release.as_str(), compiler.llvm), ("1.95.0", 22));
        assert_eq!(compiler.host, "x86_64-unknown-linux-gnu");
        assert_eq!(Compiler::read(OsStr::new("rustc"), "rustc 1.95.0"), None);
    }

    #[test]
    fn variables_name_another_one() {
        let set =
            |wanted: &'static str| move |name: &str| (name == wanted).then(|| OsString::from("/opt/rustc"));
        assert_eq!(rustc(set("TRACKWAY_RUSTC")), "/opt/rustc");
        assert_eq!(rustc(set("RUSTC")), "/opt/rustc");
        assert_eq!(rustc(set("CC")), "rustc");
    }

    #[test]
    fn the_toolchain_stands_first() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            split_toolchain(words("+nightly -O a.rs")),
            (Some("+nightly".into()), words("-O a.rs"))
        );
        assert_eq!(split_toolchain(words("a.rs +x")), (None, words("a.rs +x")));
    }

    #[test]
    fn another_llvm_is_refused_with_versions_and_remedy() {
        let root = tempfile::tempdir().unwrap();
        let parts = root.path().join("lib/trackway");
        fs::create_dir_all(&parts).unwrap();
        for version in [19, 22] {
            fs::write(parts.join(format!("TrackwayPass{version}.so")), "").unwrap();
        }
        let installation = Installation::at(root.path());
        let mut compiler = Compiler::read(OsStr::new("rustc"), ANSWER).unwrap();
        assert!(compiler.plugin(&installation).is_ok());
        compiler.llvm = 23;
        let message = compiler.plugin(&installation).unwrap_err().to_string();
        for part in ["rustc 1.95.0", "LLVM 23", "19, 22", "+TOOLCHAIN"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_missing_rust_comes_with_the_remedy() {
        let message = Compiler::ask(OsStr::new("/nowhere/rustc"), None)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("rustup.rs") && message.contains("/nowhere/rustc"),
            "{message}"
        );
    }
}
