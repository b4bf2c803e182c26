//! What a rustc command line asks for, as far as instrumentation depends on it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::invocation::Output;

/// What rustc is going to do with a command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// Has an input, and makes objects or assembly of it rather than answering a question.
    pub generates_code: bool,
    /// Among what is made is the crate itself: a program or a library.
    pub links: bool,
    pub crate_name: Option<OsString>,
    pub crate_types: Vec<Vec<u8>>,
    pub is_test: bool,
    /// The triple that the command line names.
    pub target: Option<OsString>,
    is_static: bool,
    out_dir: Option<OsString>,
    extra_filename: Option<OsString>,
}

/// Options whose value may be the following argument.
const WITH_VALUE: &[&str] = &[
    "--cfg",
    "--check-cfg",
    "-L",
    "-l",
    "--crate-type",
    "--crate-name",
    "--edition",
    "--emit",
    "--print",
    "-o",
    "--out-dir",
    "--explain",
    "--target",
    "-A",
    "--allow",
    "-W",
    "--warn",
    "--force-warn",
    "-D",
    "--deny",
    "-F",
    "--forbid",
    "--cap-lints",
    "-C",
    "--codegen",
    "--extern",
    "--sysroot",
    "--error-format",
    "--json",
    "--color",
    "--diagnostic-width",
    "--remap-path-prefix",
    "-Z",
    "--env-set",
    "--remap-path-scope",
];

const QUERIES: &[&str] = &[
    "-V",
    "--version",
    "-h",
    "--help",
    "-vV",
    "-Vv",
    "--explain",
    "-Zhelp",
    "-Chelp",
];

impl Invocation {
    /// Reads the arguments that follow the compiler's name; `@file`s are left closed and count as an input.
    pub fn parse(arguments: &[OsString]) -> Invocation {
        let mut found = Invocation::default();
        let (mut has_input, mut asks, mut emits) = (false, false, None);
        let mut rest = arguments.iter().map(OsString::as_os_str);
        while let Some(argument) = rest.next() {
            let (name, joined) = split_value(argument);
            if !name.as_bytes().starts_with(b"-") || name == "-" {
                has_input |= !argument.as_bytes().starts_with(b"+");
                continue;
            }
            asks |= is_one_of(argument, QUERIES);
            let takes_value = is_one_of(name, WITH_VALUE);
            let value = joined.or_else(|| takes_value.then(|| rest.next()).flatten());
            match (name.as_bytes(), value) {
                (b"--print", _) => asks = true,
                (b"--test", None) => found.is_test = true,
                (b"--emit", Some(value)) => emits.get_or_insert_with(Vec::new).extend(kinds(value)),
                (b"--crate-type", Some(value)) => found.crate_types.extend(words(value)),
                (b"--crate-name", Some(value)) => found.crate_name = Some(value.into()),
                (b"--target", Some(value)) => found.target = Some(value.into()),
                (b"--out-dir", Some(value)) => found.out_dir = Some(value.into()),
                (b"-C" | b"--codegen", Some(value)) => found.read_codegen(value.as_bytes()),
                _ => {}
            }
        }
        let makes = |kind: &[u8]| {
            emits
                .as_ref()
                .is_none_or(|kinds| kinds.iter().any(|one| one == kind))
        };
        found.links = has_input && !asks && makes(b"link");
        let makes_objects = [b"link".as_slice(), b"obj", b"asm", b"llvm-ir", b"llvm-bc"];
        found.generates_code = has_input && !asks && makes_objects.into_iter().any(makes);
        found
    }

    fn read_codegen(&mut self, option: &[u8]) {
        if let Some(extra) = option.strip_prefix(b"extra-filename=") {
            self.extra_filename = Some(OsStr::from_bytes(extra).into());
        }
        if let Some(features) = option.strip_prefix(b"target-feature=") {
            for feature in features.split(|byte| *byte == b',') {
                match feature {
                    b"+crt-static" => self.is_static = true,
                    b"-crt-static" => self.is_static = false,
                    _ => {}
                }
            }
        }
    }

    /// Where cargo has rustc write what the crate depends on.
    pub fn dependencies(&self) -> Option<PathBuf> {
        let mut name = self.crate_name.clone()?;
        name.push(self.extra_filename.as_deref().unwrap_or_default());
        name.push(".d");
        Some(Path::new(self.out_dir.as_ref()?).join(name))
    }

    /// What the linker makes; none of a library for other crates. A crate without a type is a program, unless its source
    /// says otherwise, and then rustc has no use for the linker's arguments.
    pub fn output(&self) -> Option<Output> {
        let is = |wanted: &[&str]| {
            let mut types = self.crate_types.iter();
            types.any(|one| wanted.iter().any(|name| name.as_bytes() == one.as_slice()))
        };
        if !self.links {
            return None;
        }
        if self.is_test || self.crate_types.is_empty() || is(&["bin"]) {
            return Some(if self.is_static {
                Output::StaticExecutable
            } else {
                Output::Executable
            });
        }
        is(&["dylib", "cdylib"]).then_some(Output::SharedObject)
    }
}

/// `--name=value`, `-Cvalue` and `-Lvalue`; the value may be missing.
fn split_value(argument: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let bytes = argument.as_bytes();
    let part = OsStr::from_bytes;
    if bytes.starts_with(b"--") {
        return match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => (part(&bytes[..at]), Some(part(&bytes[at + 1..]))),
            None => (argument, None),
        };
    }
    let joined = bytes.len() > 2 && bytes[0] == b'-' && is_one_of(part(&bytes[..2]), WITH_VALUE);
    if joined {
        return (part(&bytes[..2]), Some(part(&bytes[2..])));
    }
    (argument, None)
}

fn is_one_of(argument: &OsStr, list: &[&str]) -> bool {
    list.iter().any(|known| argument == *known)
}

fn words(value: &OsStr) -> impl Iterator<Item = Vec<u8>> + '_ {
    value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::to_vec)
}

/// Of `dep-info,link=path`, the kinds.
fn kinds(value: &OsStr) -> impl Iterator<Item = Vec<u8>> + '_ {
    words(value).map(|word| {
        word.split(|byte| *byte == b'=')
            .next()
            .unwrap_or_default()
            .to_vec()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Invocation {
        let arguments: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        Invocation::parse(&arguments)
    }

    #[test]
    fn programs_are_the_default() {
        for line in [
            "a.rs",
            "-O -g a.rs -o a",
            "+nightly a.rs",
            "-",
            "--crate-type bin a.rs",
            "-Copt-level=3 a.rs",
            "--crate-type lib --test a.rs",
        ] {
            assert_eq!(parse(line).output(), Some(Output::Executable), "{line}");
        }
        let fixed = parse("-C target-feature=+avx,+crt-static a.rs");
        assert_eq!(fixed.output(), Some(Output::StaticExecutable));
    }

    #[test]
    fn libraries_link_only_if_they_are_shared() {
        for line in [
            "--crate-type=lib a.rs",
            "--crate-type rlib a.rs",
            "--crate-type staticlib a.rs",
        ] {
            let invocation = parse(line);
            assert!(
                invocation.generates_code && invocation.output().is_none(),
                "{line}"
            );
        }
        for line in ["--crate-type cdylib a.rs", "--crate-type=rlib,dylib a.rs"] {
            assert_eq!(parse(line).output(), Some(Output::SharedObject), "{line}");
        }
    }

    #[test]
    fn questions_generate_nothing() {
        for line in [
            "-vV",
            "",
            "--print cfg",
            "- --crate-name ___ --print=file-names",
            "--explain E0001",
            "-C help",
            "a.rs --emit=metadata,dep-info",
            "--emit dep-info a.rs",
            "-o a",
        ] {
            assert!(!parse(line).generates_code, "{line}");
        }
    }

    #[test]
    fn what_cargo_says_is_understood() {
        let invocation = parse(
            "--crate-name hash --edition=2021 src/lib.rs --error-format=json --json=diagnostic --crate-type lib \
             --emit=dep-info,metadata,link -C embed-bitcode=no -C metadata=1 -C extra-filename=-1 --out-dir /t \
             --target x86_64-unknown-linux-gnu -L dependency=/t",
        );
        assert!(invocation.links && invocation.generates_code);
        assert_eq!(invocation.crate_name, Some("hash".into()));
        assert_eq!(invocation.target, Some("x86_64-unknown-linux-gnu".into()));
        assert_eq!(invocation.dependencies(), Some("/t/hash-1.d".into()));
        let asm = parse("--emit asm -O a.rs");
        assert!(asm.generates_code && !asm.links);
    }
}
