//! The folder of kept answers: the user's alone, and bounded.

use std::env;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

use super::bytes::{pack, unpack, Foundation};
use super::entry::{is_own, EntryFile};
use super::premises::{Premises, SourceState};

/// All entries together. What was used the longest time ago goes first.
const MOST_BYTES: u64 = 1 << 30;
/// A larger entry would take the place of too many others: it isn't kept.
const LARGEST_PART: u64 = 4;

/// A folder that is the user's alone.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    most_bytes: u64,
}

impl Folder {
    /// The user's folder, which is made if needed; none if there is no place for it.
    pub fn of_user() -> Option<Folder> {
        Folder::at(path_of_user()?, MOST_BYTES).ok()
    }

    /// # Errors
    /// If it can't be made, or others have access to it.
    pub fn at(path: PathBuf, most_bytes: u64) -> io::Result<Folder> {
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        let metadata = fs::symlink_metadata(&path)?;
        match metadata.is_dir() && is_own(&metadata) {
            true => Ok(Folder { path, most_bytes }),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// The answer with these premises, if it is kept and still true.
    pub fn find(&self, premises: &Premises) -> Option<Vec<u8>> {
        let file = EntryFile::of(self.path.join(premises.name()?))?;
        let (opened, content) = file.read(self.largest()).ok()?;
        let (foundation, answer) = unpack(&content)?;
        let is_true = foundation.premises == *premises && foundation.sources.iter().all(SourceState::is_true);
        if !is_true {
            return None;
        }
        // If that fails, the answer is only forgotten earlier.
        let _ = opened.set_modified(SystemTime::now());
        Some(answer.to_vec())
    }

    /// Keeps an answer, if there is room. If it can't be written, it isn't kept.
    pub fn keep(&self, premises: &Premises, sources: &[SourceState], answer: &[u8]) {
        let foundation = Foundation {
            premises: premises.clone(),
            sources: sources.to_vec(),
        };
        let bytes = pack(&foundation, answer).filter(|bytes| bytes.len() as u64 <= self.largest());
        if let (Some(name), Some(bytes)) = (premises.name(), bytes) {
            let _ = self.write(&name, &bytes);
            self.forget_oldest();
        }
    }

    fn largest(&self) -> u64 {
        self.most_bytes / LARGEST_PART
    }

    /// The file gets its name when it is complete. Its mode is 0600.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.path)?;
        file.write_all(bytes)?;
        file.persist(self.path.join(name))?;
        Ok(())
    }

    fn forget_oldest(&self) {
        let mut files = self.files();
        files.sort_by_key(|file| std::cmp::Reverse(file.used));
        let mut total = 0;
        for file in files {
            total += file.bytes;
            if total > self.most_bytes {
                let _ = file.remove();
            }
        }
    }

    /// All files, also those of answers that were never complete.
    pub fn files(&self) -> Vec<EntryFile> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter_map(|entry| EntryFile::of(entry.path())).collect()
    }

    /// What an entry answers; none if it is torn or foreign.
    pub fn foundation(&self, file: &EntryFile) -> Option<Foundation> {
        let (_, content) = file.read(self.largest()).ok()?;
        Some(unpack(&content)?.0)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// `$XDG_CACHE_HOME/trackway/answers`, or that below `~/.cache`.
pub(super) fn path_of_user() -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("trackway").join("answers"))
}
