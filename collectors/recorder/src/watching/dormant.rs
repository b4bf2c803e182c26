//! Finding a program that runs without a recorder and would be recorded.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation};

use super::attach::{descriptors, paths_in, target, AttachError};
use crate::abi;

/// The page that the process has made, locked for this recorder.
///
/// # Errors
/// If it has none, or another recorder has it.
pub fn dormant_page(pid: u32) -> Result<OwnedFd, AttachError> {
    let path = page_of(pid)?.ok_or(AttachError::NotDormant { pid })?;
    if is_elsewhere(pid) {
        return Err(AttachError::InContainer { pid });
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|source| AttachError::Denied {
            path: path.clone(),
            source,
        })?;
    check_version(pid, &file)?;
    if rustix::fs::fcntl_get_seals(&file).is_err() {
        return Err(AttachError::NotDormant { pid }); // a file of that name
    }
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file.into()),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(AttachError::HasRecorder {
            pid,
            recorder: recorder_at(&file),
        }),
        Err(source) => Err(AttachError::Denied {
            path,
            source: source.into(),
        }),
    }
}

/// The recorder that has come to the process, or that came last.
pub fn recorder_of_dormant(pid: u32) -> Option<u32> {
    let file = File::open(page_of(pid).ok()??).ok()?;
    check_version(pid, &file).ok()?;
    let recorder = recorder_at(&file)?;
    has_open(recorder, &file).then_some(recorder)
}

/// Processes of another namespace give themselves numbers that mean others here.
fn is_elsewhere(pid: u32) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    let (theirs, ours) = (namespace(&pid.to_string()), namespace("self"));
    theirs.is_some() && ours.is_some() && theirs != ours
}

fn link() -> String {
    format!("/memfd:{} (deleted)", abi::DORMANT_NAME)
}

fn page_of(pid: u32) -> Result<Option<PathBuf>, AttachError> {
    let folder = descriptors(pid);
    let found = paths_in(&folder).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => AttachError::NoProcess { pid },
        _ => AttachError::Denied { path: folder, source },
    })?;
    Ok(found.into_iter().find(|path| is_page(path)))
}

fn is_page(descriptor: &Path) -> bool {
    target(descriptor).is_some_and(|found| found == *link())
}

fn check_version(pid: u32, file: &File) -> Result<(), AttachError> {
    let mut words = [0; 12];
    let whole = file.read_exact_at(&mut words, 0);
    let [magic, abi] = [0..8, 8..12].map(|range| {
        let mut word = [0; 8];
        word[..range.len()].copy_from_slice(&words[range]);
        u64::from_le_bytes(word)
    });
    match whole {
        Ok(()) if magic == abi::RING_MAGIC && abi == u64::from(abi::ABI) => Ok(()),
        _ => Err(AttachError::OtherVersion { pid, abi }),
    }
}

/// The process of the thread that the page names.
fn recorder_at(file: &File) -> Option<u32> {
    let mut word = [0; 4];
    let place = std::mem::offset_of!(abi::RingHeader, life);
    file.read_exact_at(&mut word, place as u64).ok()?;
    let status = fs::read_to_string(format!("/proc/{}/status", u32::from_le_bytes(word))).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

fn has_open(recorder: u32, file: &File) -> bool {
    let Ok(file) = file.metadata() else {
        return false;
    };
    let is_it = |path: &PathBuf| {
        is_page(path)
            && fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
    };
    paths_in(&descriptors(recorder)).is_ok_and(|paths| paths.iter().any(is_it))
}
