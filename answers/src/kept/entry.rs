//! The file of a kept answer.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::SystemTime;

use trackway_trace::open_regular_itself;

/// A file in the folder, whatever it holds.
#[derive(Debug, Clone)]
pub(super) struct EntryFile {
    pub path: PathBuf,
    pub bytes: u64,
    pub used: SystemTime,
}

impl EntryFile {
    /// None if it is no file, or has vanished.
    pub fn of(path: PathBuf) -> Option<EntryFile> {
        let metadata = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some(EntryFile {
            bytes: metadata.len(),
            used: metadata.modified().ok()?,
            path,
        })
    }

    /// Its content, if it is the user's alone; longer ones are none of ours.
    pub fn read(&self, most_bytes: u64) -> io::Result<(File, Vec<u8>)> {
        let file = open_regular_itself(&self.path)?;
        let metadata = file.metadata()?;
        if !is_own(&metadata) || metadata.len() > most_bytes {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut content = Vec::with_capacity(metadata.len() as usize);
        (&file).take(most_bytes).read_to_end(&mut content)?;
        Ok((file, content))
    }

    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Whether it is this user's, and nobody else can read or change it.
pub(super) fn is_own(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0
}
