//! Starting the program and waiting for its end.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::thread::Scope;

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::options::{BinaryClient, RecordOptions};
use crate::ring::Ring;
use crate::{ProgramEnd, RecordError};

/// The running program.
pub struct Program {
    pub pid: u32,
    descriptor: Option<OwnedFd>,
}

/// How the program ended, as soon as it has.
#[derive(Default)]
pub struct EndOfProgram(Mutex<Option<ProgramEnd>>);

impl EndOfProgram {
    pub fn get(&self) -> Option<ProgramEnd> {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn set(&self, end: ProgramEnd) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(end);
    }
}

pub fn start(options: &RecordOptions, ring: &Ring) -> Result<Child, RecordError> {
    let name = ring.name().map_err(|source| RecordError::System {
        action: "inspect the ring",
        source,
    })?;
    let descriptor = ring.descriptor();
    let mut command = match &options.client {
        None => compiled_program(options, name),
        Some(client) => binary(options, client, name)?,
    };
    if let Some(file) = &options.instead_of_terminal {
        redirect(&mut command, file).map_err(|source| RecordError::System {
            action: "redirect the program's output",
            source,
        })?;
    }
    // SAFETY: the closure makes one async-signal-safe system call.
    unsafe { command.pre_exec(move || inherit(descriptor)) };
    command.spawn().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => RecordError::ProgramNotFound {
            program: options.program.clone(),
        },
        _ => RecordError::Start {
            program: options.program.clone(),
            source,
        },
    })
}

fn compiled_program(options: &RecordOptions, ring_name: OsString) -> Command {
    let mut command = Command::new(&options.program);
    command.args(&options.arguments).env("TRACKWAY_RING", ring_name);
    command
}

/// The launcher becomes the program.
fn binary(
    options: &RecordOptions,
    client: &BinaryClient,
    ring_name: OsString,
) -> Result<Command, RecordError> {
    let program = found_in_path(&options.program).ok_or_else(|| RecordError::ProgramNotFound {
        program: options.program.clone(),
    })?;
    let mut command = Command::new(&client.launcher);
    command
        .arg(&client.dynamorio)
        .arg(&client.client)
        .arg(&client.options)
        .args(interpreter_of(&program))
        .arg(program)
        .args(&options.arguments)
        .env("TRACKWAY_CLIENT_RING", ring_name)
        .env_remove("TRACKWAY_RING");
    Ok(command)
}

/// What the kernel would run a script with: the words of its first line.
fn interpreter_of(program: &Path) -> Vec<OsString> {
    let mut start = [0; 256];
    let length = File::open(program).and_then(|mut file| file.read(&mut start));
    let line = start[..length.unwrap_or(0)].split(|byte| *byte == b'\n').next();
    let Some(words) = line.and_then(|line| line.strip_prefix(b"#!")) else {
        return Vec::new();
    };
    // The interpreter, and all the rest as one argument.
    let words = words.trim_ascii();
    let (interpreter, argument) = match words.iter().position(u8::is_ascii_whitespace) {
        Some(end) => (&words[..end], words[end..].trim_ascii()),
        None => (words, &[] as &[u8]),
    };
    let parts = [interpreter, argument].into_iter();
    parts
        .filter(|part| !part.is_empty())
        .map(|part| OsStr::from_bytes(part).to_owned())
        .collect()
}

/// The file that a shell would run.
fn found_in_path(program: &OsStr) -> Option<PathBuf> {
    let runs = |path: &Path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    if program.as_encoded_bytes().contains(&b'/') {
        return Path::new(program).exists().then(|| program.into());
    }
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join(program));
    folders.find(|path| runs(path))
}

fn redirect(command: &mut Command, file: &File) -> io::Result<()> {
    if io::stdout().is_terminal() {
        command.stdout(file.try_clone()?);
    }
    if io::stderr().is_terminal() {
        command.stderr(file.try_clone()?);
    }
    Ok(())
}

fn inherit(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: sets a flag of a descriptor.
    match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Program {
    /// Waits for `child` on a thread of its own, which notes the end and pokes the ring.
    pub fn watch<'scope>(
        mut child: Child,
        end: &'scope EndOfProgram,
        ring: &'scope Ring,
        scope: &'scope Scope<'scope, '_>,
    ) -> Self {
        let pid = child.id();
        let descriptor = open_process(pid);
        scope.spawn(move || {
            end.set(child.wait().map_or(ProgramEnd::Exited(0), program_end));
            ring.poke();
        });
        Self { pid, descriptor }
    }

    /// Passes a signal on. A program that has ended already needs none.
    pub fn send(&self, signal: i32) {
        if let (Some(descriptor), Some(signal)) = (&self.descriptor, Signal::from_named_raw(signal)) {
            let _ = rustix::process::pidfd_send_signal(descriptor, signal);
        }
    }
}

/// A descriptor that becomes readable when the process ends; none if it has ended.
pub fn open_process(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn program_end(status: ExitStatus) -> ProgramEnd {
    match (status.code(), status.signal()) {
        (Some(status), _) => ProgramEnd::Exited(status),
        (None, Some(signal)) => ProgramEnd::Signalled(signal),
        (None, None) => ProgramEnd::Exited(0),
    }
}
