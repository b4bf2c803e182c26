//! What tells whether a file has changed.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A file as it was at a time. The time of the last change can't be set, so another content has another state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileState {
    device: u64,
    inode: u64,
    length: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl FileState {
    /// None if there is no such file, but a folder, for example, which changes with each file in it.
    pub fn of(path: &Path) -> Option<FileState> {
        let metadata = fs::metadata(path).ok()?;
        metadata.is_file().then(|| FileState::from(&metadata))
    }
}

impl From<&Metadata> for FileState {
    fn from(metadata: &Metadata) -> FileState {
        let time =
            |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        FileState {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified_ns: time(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: time(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
