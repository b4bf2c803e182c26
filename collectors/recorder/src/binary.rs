//! Starting a binary as it is, under DynamoRIO with our client.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::options::{BinaryClient, RecordOptions};
use crate::RecordError;

/// How much of a file says what would run it.
const HEAD: usize = 256;
const ELF_MAGIC: &[u8] = b"\x7fELF";
const ELF_64_BIT: u8 = 2;
const ELF_X86_64: [u8; 2] = [62, 0];

/// Where DynamoRIO's launcher leaves a word for the program that it becomes; removed with all that is in it.
pub struct ConfigurationFolder(PathBuf);

impl ConfigurationFolder {
    /// One that only this user may read.
    pub fn create() -> Result<Self, RecordError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("trackway-{}-{}", std::process::id(), now.as_nanos());
        let path = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| RecordError::System {
            action: "create a folder for temporary files",
            source,
        })?;
        Ok(Self(path))
    }
}

impl Drop for ConfigurationFolder {
    fn drop(&mut self) {
        // Nothing depends on it any more, and an error can't be reported.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The launcher, which becomes the program.
pub fn command(
    options: &RecordOptions,
    client: &BinaryClient,
    ring_name: OsString,
    configuration: &ConfigurationFolder,
) -> Result<Command, RecordError> {
    let file = found_in_path(&options.program).ok_or_else(|| RecordError::ProgramNotFound {
        program: options.program.clone(),
    })?;
    let interpreter = interpreter_of(&file);
    check(interpreter.first().map_or(file.as_path(), Path::new)).map_err(|source| RecordError::Start {
        program: options.program.clone(),
        source,
    })?;
    let mut command = Command::new(&client.launcher);
    command
        .arg(&client.dynamorio)
        .arg(&client.client)
        .arg(&client.options)
        .args(interpreter)
        .arg(file)
        .args(&options.arguments)
        .env("DYNAMORIO_CONFIGDIR", &configuration.0)
        .env("TRACKWAY_CLIENT_RING", ring_name)
        .env_remove("TRACKWAY_RING");
    Ok(command)
}

/// The file that a shell would run.
pub fn found_in_path(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Path::new(program).exists().then(|| program.into());
    }
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| file.is_file() && may_run(file))
}

fn may_run(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// What the kernel would run a script with: the words of its first line.
pub fn interpreter_of(program: &Path) -> Vec<OsString> {
    let head = head_of(program).unwrap_or_default();
    let line = head.split(|byte| *byte == b'\n').next();
    let Some(words) = line.and_then(|line| line.strip_prefix(b"#!")) else {
        return Vec::new();
    };
    // The interpreter, and all the rest as one argument.
    let words = words.trim_ascii();
    let (interpreter, argument) = match words.iter().position(u8::is_ascii_whitespace) {
        Some(end) => (&words[..end], words[end..].trim_ascii()),
        None => (words, &[] as &[u8]),
    };
    [interpreter, argument]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| OsStr::from_bytes(part).to_owned())
        .collect()
}

fn head_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// DynamoRIO itself would only say that it failed.
fn check(file: &Path) -> io::Result<()> {
    let refuse = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what.to_owned()));
    if !may_run(file) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let head = head_of(file)?;
    if !head.starts_with(ELF_MAGIC) {
        return refuse("it is neither an ELF executable nor a script with an interpreter");
    }
    let class = head.get(4).copied();
    let machine = head.get(18..20);
    if class != Some(ELF_64_BIT) || machine != Some(&ELF_X86_64) {
        return refuse("it is no program for x86-64; only such binaries can be recorded as they are");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(folder: &Path, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join("program");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn scripts_have_interpreters() {
        let folder = tempfile::tempdir().unwrap();
        let interpreter = |content: &[u8]| interpreter_of(&file(folder.path(), content, 0o755));
        assert_eq!(interpreter(b"#!/bin/sh\necho"), ["/bin/sh"]);
        assert_eq!(
            interpreter(b"#! /usr/bin/env -S a b \n"),
            ["/usr/bin/env", "-S a b"]
        );
        assert!(interpreter(b"\x7fELF").is_empty());
        assert!(interpreter(b"").is_empty());
    }

    #[test]
    fn what_cannot_run_is_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |content: &[u8]| {
            let program = file(folder.path(), content, 0o755);
            check(&program).unwrap_err().to_string()
        };
        assert!(refusal(b"text").contains("neither an ELF executable"));
        assert!(refusal(b"\x7fELF").contains("no program for x86-64"));
        let mut foreign = fs::read("/proc/self/exe").unwrap();
        assert!(check(Path::new("/proc/self/exe")).is_ok());
        foreign[18] = 183;
        assert!(refusal(&foreign).contains("no program for x86-64"));
    }

    #[test]
    fn programs_are_looked_for_as_a_shell_does() {
        assert!(found_in_path(OsStr::new("sh")).is_some_and(|path| path.ends_with("sh")));
        assert_eq!(found_in_path(OsStr::new("no-such-program")), None);
        assert_eq!(found_in_path(OsStr::new("./no-such-program")), None);
    }
}
