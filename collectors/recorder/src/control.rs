//! Asking a recorder that runs: a socket of its own, for its user alone, and what `trackway control` says there.
//!
//! A question is a line of JSON, and so is its answer.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::watching::{recorder_of, AttachError};

/// A question is no longer.
const MOST_BYTES: u64 = 4096;
/// The recorder doesn't wait longer for a question that it was promised.
const PATIENCE: Duration = Duration::from_millis(100);
/// Who asks waits longer, since the recorder may be busy.
const PATIENCE_OF_ASKER: Duration = Duration::from_secs(10);

/// What a recorder is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlRequest {
    /// Recording begins.
    Start,
    /// Recording ends; the program runs on.
    Stop,
    /// A mark in the trace.
    Mark(String),
    /// What is recorded so far.
    Status,
    /// What a flight recorder holds is written.
    Snapshot,
    /// What has become of a snapshot that was asked for.
    OutcomeOf(PathBuf),
}

/// What it says to that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlAnswer {
    Done(String),
    /// There will be a trace, when it is whole: `OutcomeOf` asks whether it is.
    Pending(PathBuf),
    Refused(String),
}

/// Why a recorder wasn't asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error(transparent)]
    Process(#[from] AttachError),
    #[error(
        "{}: cannot reach the recorder of process {pid}: {source}; it has ended, or belongs to another user",
        path.display()
    )]
    Unreachable {
        pid: u32,
        path: PathBuf,
        source: io::Error,
    },
    #[error("the recorder of process {pid} gave no answer: {source}")]
    NoAnswer { pid: u32, source: io::Error },
}

/// Asks the recorder of which the process is a part, or which it is.
pub fn control(pid: u32, request: &ControlRequest) -> Result<ControlAnswer, ControlError> {
    let mut stream = connect(pid, recorder_of(pid)?)?;
    ask(&mut stream, request).map_err(|source| ControlError::NoAnswer { pid, source })
}

/// Connects to the socket that the recorder made; it may have another user and another environment than the asker.
fn connect(pid: u32, recorder: u32) -> Result<UnixStream, ControlError> {
    let paths =
        folders(user_of(recorder), runtime_folder_of(recorder)).map(|folder| socket_in(&folder, recorder));
    let mut last = None;
    for path in paths {
        match UnixStream::connect(&path).and_then(|stream| answers_for(stream, recorder)) {
            Ok(stream) => return Ok(stream),
            Err(source) => last = Some(ControlError::Unreachable { pid, path, source }),
        }
    }
    Err(last.unwrap_or(ControlError::Process(AttachError::NotRecorded { pid })))
}

/// Anybody may have a socket in the folder that an environment names.
fn answers_for(stream: UnixStream, recorder: u32) -> io::Result<UnixStream> {
    match socket_peercred(&stream)?.pid.as_raw_nonzero().get() as u32 == recorder {
        true => Ok(stream),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "another process listens there",
        )),
    }
}

fn user_of(process: u32) -> u32 {
    fs::metadata(format!("/proc/{process}")).map_or(geteuid().as_raw(), |folder| folder.uid())
}

/// XDG_RUNTIME_DIR, as the process was started with it.
fn runtime_folder_of(process: u32) -> Option<OsString> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(b"XDG_RUNTIME_DIR="))?;
    Some(OsString::from_vec(value.to_owned()))
}

fn ask(stream: &mut UnixStream, request: &ControlRequest) -> io::Result<ControlAnswer> {
    stream.set_read_timeout(Some(PATIENCE_OF_ASKER))?;
    stream.set_write_timeout(Some(PATIENCE_OF_ASKER))?;
    write_line(stream, request)?;
    read_line(stream)
}

fn write_line(stream: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn read_line<T: for<'de> Deserialize<'de>>(stream: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(stream.take(MOST_BYTES)).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Where recorders of a user have their sockets: in the first of these that can be used. `runtime_folder`: that of the
/// recorder's environment.
fn folders(user: u32, runtime_folder: Option<OsString>) -> impl Iterator<Item = PathBuf> {
    let named = runtime_folder
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("trackway"));
    named
        .into_iter()
        .chain([PathBuf::from(format!("/tmp/trackway-{user}"))])
}

fn socket_in(folder: &Path, recorder: u32) -> PathBuf {
    folder.join(format!("{recorder}.socket"))
}

/// Makes the folder, or makes sure that it is the user's own and closed to others.
fn prepare_folder(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    let found = fs::symlink_metadata(folder)?;
    let is_ours = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0;
    match is_ours {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} isn't a folder of yours alone", folder.display()),
        )),
    }
}

/// The recorder's end of its socket.
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// None, with a message for the user, if it can't be made.
    pub fn open_or_say(notify: fn(&str)) -> Option<Self> {
        let opened = Self::open();
        opened
            .map_err(|error| {
                notify(&format!(
                    "`trackway control` cannot reach this recording: {error}"
                ))
            })
            .ok()
    }

    fn open() -> io::Result<Self> {
        let mut failed = None;
        for folder in folders(geteuid().as_raw(), std::env::var_os("XDG_RUNTIME_DIR")) {
            match Self::open_in(&folder) {
                Ok(socket) => return Ok(socket),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    fn open_in(folder: &Path) -> io::Result<Self> {
        prepare_folder(folder)?;
        let path = socket_in(folder, std::process::id());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {} // of a process that had this number
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path })
    }

    /// Answers what was asked since the last time.
    pub fn serve(&self, mut answer: impl FnMut(ControlRequest) -> ControlAnswer) {
        while let Ok((stream, _)) = self.listener.accept() {
            // Somebody who asks and doesn't wait for the answer is none of our concern.
            let _ = serve_one(stream, &mut answer);
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn serve_one(
    mut stream: UnixStream,
    answer: &mut impl FnMut(ControlRequest) -> ControlAnswer,
) -> io::Result<()> {
    let asker = socket_peercred(&stream)?.uid;
    if asker != geteuid() && !asker.is_root() {
        return Ok(());
    }
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match read_line(&stream) {
        Ok(request) => answer(request),
        Err(error) => ControlAnswer::Refused(format!("the recorder doesn't understand this: {error}")),
    };
    write_line(&mut stream, &answer)
}
