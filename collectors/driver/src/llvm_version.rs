//! Which LLVM a compiler is built on: the plug-in has to be of the same major version.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use trackway_answers::failure::Failure;

use crate::compiler::exec_failure;
use crate::language::Language;

/// Major version of the compiler: from its name if that ends in one (`clang-22`), else as the compiler says itself.
pub fn of_compiler(compiler: &OsStr, language: Language) -> Result<u32, Failure> {
    match of_name(compiler) {
        Some(version) => Ok(version),
        None => ask(compiler, language),
    }
}

fn of_name(compiler: &OsStr) -> Option<u32> {
    let name = Path::new(compiler).file_name()?.to_str()?;
    let (_, version) = name.rsplit_once('-')?;
    version.parse().ok()
}

fn ask(compiler: &OsStr, language: Language) -> Result<u32, Failure> {
    let answer = Command::new(compiler)
        .arg("-dumpversion")
        .output()
        .map_err(|error| exec_failure(compiler, language, &error))?;
    let text = String::from_utf8_lossy(&answer.stdout);
    let major = text.trim().split('.').next().unwrap_or_default();
    major.parse().map_err(|_| {
        Failure::new(format!(
            "{}: can't tell its version: `-dumpversion` answers {:?}",
            compiler.to_string_lossy(),
            text.trim()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_name_may_tell() {
        let version = |name: &str| of_name(OsStr::new(name));
        assert_eq!(version("clang-19"), Some(19));
        assert_eq!(version("/opt/x-17/bin/clang++-18"), Some(18));
        assert_eq!(version("flang-22"), Some(22));
        assert_eq!(version("/opt/llvm-22/bin/clang"), None);
        assert_eq!(version("my-clang"), None);
    }

    fn compiler_that(folder: &Path, script: &str) -> std::path::PathBuf {
        let path = folder.join("clang");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn else_the_compiler_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = compiler_that(folder.path(), "test \"$1\" = -dumpversion && echo 17.0.6");
        assert_eq!(of_compiler(compiler.as_os_str(), Language::C).unwrap(), 17);
        let silent = compiler_that(folder.path(), "exit 1");
        let message = of_compiler(silent.as_os_str(), Language::C)
            .unwrap_err()
            .to_string();
        assert!(message.contains("can't tell its version"), "{message}");
        let missing = folder.path().join("none");
        let message = of_compiler(missing.as_os_str(), Language::Fortran)
            .unwrap_err()
            .to_string();
        assert!(message.contains("flang-22"), "{message}");
    }
}
