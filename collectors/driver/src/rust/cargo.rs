//! The call of cargo, and what it hands on to the calls of rustc.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use trackway_answers::failure::Failure;

use super::command::{self, PASS_OPTIONS};
use super::compiler::{self, Compiler};
use super::fingerprint::{self, Fingerprint};
use super::invocation::Invocation;
use super::wrapper;
use crate::installation::Installation;
use crate::options::Options;

const STD: &str = "--std";
/// Where what is built lies, in the folder of the usual builds.
const FOLDER: &str = "trackway";

/// What doesn't depend on what cargo is to do.
pub struct Setting {
    cargo: OsString,
    own_program: PathBuf,
    compiler: Compiler,
    toolchain: Option<OsString>,
    plugin: PathBuf,
    pass_options: OsString,
    inherits_threads: bool,
    fingerprint: Fingerprint,
    /// For programs that rustdoc makes of examples.
    linked_by_rustdoc: Vec<OsString>,
    with_std: bool,
}

/// Cargo calls `cargo-trackway` with the name of its subcommand first.
pub fn without_own_name(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.first().is_some_and(|first| first == "trackway") {
        arguments.remove(0);
    }
    arguments
}

/// Takes `--std` off the front; says whether it was there.
pub fn split_std(mut arguments: Vec<OsString>) -> (bool, Vec<OsString>) {
    let mut found = false;
    while arguments.first().is_some_and(|first| first == STD) {
        arguments.remove(0);
        found = true;
    }
    (found, arguments)
}

impl Setting {
    pub fn find(
        options: &Options,
        compiler: Compiler,
        toolchain: Option<OsString>,
        with_std: bool,
    ) -> Result<Setting, Failure> {
        let installation = Installation::locate();
        let plugin = compiler.plugin(&installation)?;
        let program = Invocation::parse(&["-".into()]);
        let linked = command::linked_parts(&program, options.inherit_threads, &installation)?;
        let pass_options = options.for_pass();
        let fingerprint = Fingerprint::of(&pass_options, [&plugin, &installation.runtime(None)?]);
        if with_std {
            require_sources(&compiler, toolchain.as_deref())?;
        }
        let own_program = env::current_exe()
            .map_err(|error| Failure::new(format!("the path of this program, for RUSTC_WRAPPER: {error}")))?;
        Ok(Setting {
            cargo: cargo(|name| env::var_os(name)),
            own_program,
            compiler,
            toolchain,
            plugin,
            pass_options,
            inherits_threads: options.inherit_threads,
            fingerprint,
            linked_by_rustdoc: linked,
            with_std,
        })
    }

    pub fn command(&self, arguments: Vec<OsString>) -> Result<Command, Failure> {
        let target_folder = self.target_folder(&arguments)?;
        let mut command = Command::new(&self.cargo);
        command
            .args(&self.toolchain)
            .args(arguments)
            .env("RUSTC_WRAPPER", &self.own_program)
            .env(wrapper::PLUGIN, &self.plugin)
            .env(
                wrapper::INHERITS_THREADS,
                if self.inherits_threads { "1" } else { "0" },
            )
            .env(PASS_OPTIONS, &self.pass_options)
            .env(fingerprint::VARIABLE, self.fingerprint.text())
            .env(
                "CARGO_ENCODED_RUSTDOCFLAGS",
                self.rustdoc_flags(|name| env::var_os(name)),
            )
            // What was compiled with other options of the pass would be used again.
            .env("CARGO_INCREMENTAL", "0");
        if let Some(folder) = target_folder {
            command.env("CARGO_TARGET_DIR", folder);
        }
        if env::var_os("CARGO_BUILD_TARGET").is_none_or(|target| target.is_empty()) {
            // With a target, even the machine's own, cargo keeps what build scripts and procedural macros are made of apart.
            command.env("CARGO_BUILD_TARGET", &self.compiler.host);
        }
        if self.with_std {
            command
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort,panic_unwind,test");
        }
        Ok(command)
    }

    /// The folder for what is built; none outside of packages, where cargo has its own complaint.
    fn target_folder(&self, arguments: &[OsString]) -> Result<Option<PathBuf>, Failure> {
        let mut question = Command::new(&self.cargo);
        question
            .args(&self.toolchain)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .args(manifest_path(arguments));
        let answer = question
            .output()
            .map_err(|error| compiler::start_failure(&self.cargo, &error))?;
        let metadata: Option<serde_json::Value> = serde_json::from_slice(&answer.stdout).ok();
        let folder = metadata
            .as_ref()
            .and_then(|all| all.get("target_directory")?.as_str());
        Ok(folder.map(|folder| Path::new(folder).join(FOLDER)))
    }

    fn rustdoc_flags(&self, variable: impl Fn(&str) -> Option<OsString>) -> OsString {
        let mut flags = variable("CARGO_ENCODED_RUSTDOCFLAGS").unwrap_or_else(|| {
            let plain = variable("RUSTDOCFLAGS").unwrap_or_default();
            let words: Vec<String> = plain
                .to_string_lossy()
                .split_whitespace()
                .map(Into::into)
                .collect();
            words.join("\x1f").into()
        });
        for word in &self.linked_by_rustdoc {
            if !flags.is_empty() {
                flags.push("\x1f");
            }
            flags.push("-Clink-arg=");
            flags.push(word);
        }
        flags
    }
}

/// The cargo that a call goes to: the one that calls us as its subcommand, if any does.
fn cargo(variable: impl Fn(&str) -> Option<OsString>) -> OsString {
    ["TRACKWAY_CARGO", "CARGO"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()))
        .unwrap_or_else(|| "cargo".into())
}

/// The option that says which package is meant.
fn manifest_path(arguments: &[OsString]) -> Vec<OsString> {
    const NAME: &str = "--manifest-path";
    let own = arguments.split(|word| word == "--").next().unwrap_or_default();
    let Some(at) = own
        .iter()
        .position(|word| word.to_string_lossy().starts_with(NAME))
    else {
        return Vec::new();
    };
    let count = if own[at] == NAME { 2 } else { 1 };
    own[at..].iter().take(count).cloned().collect()
}

fn require_sources(compiler: &Compiler, toolchain: Option<&OsStr>) -> Result<(), Failure> {
    let answer = Command::new(&compiler.program)
        .args(toolchain)
        .args(["--print", "sysroot"])
        .output()
        .map_err(|error| compiler::start_failure(&compiler.program, &error))?;
    let root = String::from_utf8_lossy(&answer.stdout);
    let sources = Path::new(root.trim()).join("lib/rustlib/src/rust/library/Cargo.lock");
    if sources.exists() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{}: not found; --std compiles the standard library from its sources: `rustup component add rust-src` installs them",
        sources.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn std_is_an_option_of_ours_only_in_front() {
        assert_eq!(split_std(words("--std build")), (true, words("build")));
        assert_eq!(split_std(words("build --std")), (false, words("build --std")));
    }

    #[test]
    fn cargo_names_its_subcommand() {
        assert_eq!(without_own_name(words("trackway build")), words("build"));
        assert_eq!(without_own_name(words("build trackway")), words("build trackway"));
    }

    #[test]
    fn the_package_may_be_elsewhere() {
        assert_eq!(
            manifest_path(&words("build --manifest-path a/Cargo.toml -v")),
            words("--manifest-path a/Cargo.toml")
        );
        assert_eq!(
            manifest_path(&words("run --manifest-path=a -- x")),
            words("--manifest-path=a")
        );
        assert!(manifest_path(&words("run -- --manifest-path=a")).is_empty());
    }

    #[test]
    fn a_missing_cargo_comes_with_the_remedy() {
        let setting = setting("/nowhere/cargo");
        let message = setting.command(words("build")).unwrap_err().to_string();
        assert!(
            message.contains("/nowhere/cargo") && message.contains("rustup.rs"),
            "{message}"
        );
    }

    #[test]
    fn flags_of_rustdoc_are_kept() {
        let setting = setting("cargo");
        let set = |name: &str| (name == "RUSTDOCFLAGS").then(|| OsString::from("--cfg  a"));
        assert_eq!(setting.rustdoc_flags(set), "--cfg\x1fa\x1f-Clink-arg=/r.a");
        assert_eq!(setting.rustdoc_flags(|_| None), "-Clink-arg=/r.a");
    }

    #[test]
    fn missing_sources_of_std_come_with_the_remedy() {
        let mut compiler = setting("cargo").compiler;
        compiler.program = "true".into();
        let message = require_sources(&compiler, None).unwrap_err().to_string();
        assert!(message.contains("rustup component add rust-src"), "{message}");
    }

    fn setting(cargo: &str) -> Setting {
        Setting {
            cargo: cargo.into(),
            own_program: "/trackway".into(),
            compiler: Compiler {
                program: "rustc".into(),
                release: "1.95.0".into(),
                host: "x86_64-unknown-linux-gnu".into(),
                llvm: 22,
            },
            toolchain: None,
            plugin: "/p.so".into(),
            pass_options: OsString::new(),
            inherits_threads: false,
            fingerprint: Fingerprint::of(OsStr::new(""), std::iter::empty::<&Path>()),
            linked_by_rustdoc: words("/r.a"),
            with_std: false,
        }
    }
}
