//! Finding the ring and the trace of a program that is being recorded.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use trackway_trace::{check_file_header, FILE_HEADER_LENGTH};

use super::view::{RingView, ViewError};
use crate::process_handle::open_process;

const VARIABLE: &[u8] = b"TRACKWAY_RING=";
/// The kernel's name for the ring among the recorder's descriptors.
const RING_LINK: &[u8] = b"/memfd:trackway (deleted)";

/// Why a program can't be looked at.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("there is no process {pid}")]
    NoProcess { pid: u32 },
    #[error(
        "process {pid} is not run by `trackway record`, nor is it a recorder; start the program with `trackway record` \
         or `trackway top --`, or record one of `trackway cc` that runs: `trackway record --pid {pid}`"
    )]
    NotRecorded { pid: u32 },
    #[error("the recorder of process {pid} has ended: nobody collects what it counts")]
    RecorderEnded { pid: u32 },
    #[error("cannot read {}: {source}; a program can be watched by its user and by root", path.display())]
    Denied { path: PathBuf, source: io::Error },
    #[error(
        "process {pid} can't be recorded while it runs: it wasn't built with `trackway cc`, was started with \
         TRACKWAY_ATTACH=0, or has closed what a recorder needs; --sample samples any process"
    )]
    NotDormant { pid: u32 },
    #[error("process {pid} runs in a container, where processes have other numbers; start the recorder there, too")]
    InContainer { pid: u32 },
    #[error(
        "process {pid} was built for runtime interface {abi}, but this recorder has {}; rebuild it with this \
         version's `trackway cc`",
        crate::abi::ABI
    )]
    OtherVersion { pid: u32, abi: u64 },
    #[error("process {pid} is being recorded{}; stop that one first", recorder.map_or(String::new(), |recorder| format!(" by process {recorder}")))]
    HasRecorder { pid: u32, recorder: Option<u32> },
    #[error("process {pid}: {error}")]
    Ring { pid: u32, error: ViewError },
}

/// A recording that another process makes.
pub struct Attachment {
    pub ring: RingView,
    /// What the recorder writes; none if that is no file.
    pub trace: Option<(PathBuf, File)>,
    pub recorder: u32,
    /// Readable once the recorder has ended.
    life: OwnedFd,
}

/// What TRACKWAY_RING says.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) struct RingName {
    descriptor: u32,
    device: u64,
    inode: u64,
    pub recorder: u32,
}

impl RingName {
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut parts = text.split(':');
        let name = RingName {
            descriptor: parts.next()?.parse().ok()?,
            device: parts.next()?.parse().ok()?,
            inode: parts.next()?.parse().ok()?,
            recorder: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(name)
    }

    fn names(&self, file: &fs::Metadata) -> bool {
        (file.dev(), file.ino()) == (self.device, self.inode)
    }
}

/// Finds the recording of which the process is a part, or that it makes.
pub fn attach(pid: u32) -> Result<Attachment, AttachError> {
    let name = ring_name(pid)?;
    let (recorder, path) = match own_ring(pid, name)? {
        Some(path) => (pid, path),
        None => {
            let name = name.ok_or(AttachError::NotRecorded { pid })?;
            let folder = descriptors(name.recorder);
            (name.recorder, folder.join(name.descriptor.to_string()))
        }
    };
    let life = open_process(recorder).ok_or(AttachError::RecorderEnded { pid })?;
    let file = File::open(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => AttachError::RecorderEnded { pid },
        _ => AttachError::Denied { path, source },
    })?;
    let is_it = |name: RingName| file.metadata().is_ok_and(|file| name.names(&file));
    if recorder != pid && !name.is_some_and(is_it) {
        return Err(AttachError::RecorderEnded { pid }); // and its number is another process's now
    }
    Ok(Attachment {
        ring: RingView::map(&file).map_err(|error| AttachError::Ring { pid, error })?,
        trace: trace_of(recorder),
        recorder,
        life,
    })
}

impl Attachment {
    /// Waits for the recorder's end, but not longer than that, and not on when a signal comes. Whether it has ended.
    pub fn wait_for_end(&self, timeout: Duration) -> bool {
        let mut life = [PollFd::new(&self.life, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        matches!(poll(&mut life, Some(&timeout)), Ok(1..))
    }
}

pub(super) fn descriptors(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/fd"))
}

/// The ring's name, from the environment with which the process was started.
pub(super) fn ring_name(pid: u32) -> Result<Option<RingName>, AttachError> {
    let path = PathBuf::from(format!("/proc/{pid}/environ"));
    let environment = fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => AttachError::NoProcess { pid },
        _ => AttachError::Denied { path, source },
    })?;
    let mut variables = environment.split(|byte| *byte == 0);
    Ok(variables.find_map(|variable| RingName::parse(variable.strip_prefix(VARIABLE)?)))
}

/// The ring that the process lends to others, if it is a recorder: not the one that it may have inherited.
pub(super) fn own_ring(pid: u32, inherited: Option<RingName>) -> Result<Option<PathBuf>, AttachError> {
    let folder = descriptors(pid);
    let found = paths_in(&folder).map_err(|source| AttachError::Denied { path: folder, source })?;
    let is_ring = |path: &PathBuf| target(path).is_some_and(|link| link.as_bytes() == RING_LINK);
    let is_inherited = |path: &PathBuf| match (inherited, fs::metadata(path)) {
        (Some(name), Ok(file)) => name.names(&file),
        _ => false,
    };
    Ok(found
        .into_iter()
        .find(|path| is_ring(path) && !is_inherited(path)))
}

/// The file that a recorder writes, if it is a trace.
fn trace_of(recorder: u32) -> Option<(PathBuf, File)> {
    let paths = paths_in(&descriptors(recorder)).ok()?;
    paths
        .into_iter()
        .filter(|path| is_written(recorder, path))
        .find_map(|path| {
            // Opening anything else than a file might wait, or do something.
            fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            let name = target(&path)?;
            let file = File::open(&path).ok()?;
            begins_as_trace(&file).then(|| (PathBuf::from(name), file))
        })
}

fn begins_as_trace(file: &File) -> bool {
    let mut header = [0; FILE_HEADER_LENGTH];
    let read = std::os::unix::fs::FileExt::read_exact_at(file, &mut header, 0);
    read.is_ok() && check_file_header(Path::new(""), &header).is_ok()
}

/// Whether the descriptor was opened for writing.
fn is_written(pid: u32, descriptor: &Path) -> bool {
    let number = descriptor.file_name().unwrap_or_default().to_string_lossy();
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

pub(super) fn paths_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

pub(super) fn target(link: &Path) -> Option<std::ffi::OsString> {
    fs::read_link(link)
        .ok()
        .map(|path| OsStr::to_owned(path.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Output, RecordOptions};
    use crate::ring::Ring;

    #[test]
    fn rings_are_named_by_four_numbers() {
        let name = RingName {
            descriptor: 1000,
            device: 1,
            inode: 77,
            recorder: 4711,
        };
        assert_eq!(RingName::parse(b"1000:1:77:4711"), Some(name));
        for text in ["", "1000:1:77", "1000:1:77:4711:1", "x:1:77:4711", "1000:1:77:"] {
            assert_eq!(RingName::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_recorder_is_known_by_its_ring() {
        let _turn = crate::watching::take_turn();
        let ring = Ring::create(&RecordOptions::new("p", Output::Discard)).unwrap();
        let pid = std::process::id();
        let attached = attach(pid).unwrap();
        assert_eq!(attached.recorder, pid);
        assert!(!attached.wait_for_end(Duration::ZERO));
        drop(ring);
    }

    #[test]
    fn others_are_refused() {
        assert!(matches!(attach(u32::MAX), Err(AttachError::NoProcess { .. })));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let refused = attach(other.id());
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(matches!(refused, Err(AttachError::NotRecorded { .. })));
    }
}
