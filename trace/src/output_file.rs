//! Files that are written for the user: what they may replace, and when they get their names.
//!
//! A regular file is written under another name beside its own, for the user alone, and is renamed once it is whole. So
//! at any time, a whole file stands under its name. Devices, pipes and FIFOs are written through: to rename a file over
//! them would remove them.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// What may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Nothing: there must be no such file.
    Kept,
    /// A regular file, but no symbolic link.
    FileReplaced,
    /// A regular file, also one that a symbolic link leads to; the link stays. What `--force` asks for.
    TargetReplaced,
}

impl Existing {
    /// Makes the choice of commands that have an option `--force`.
    pub fn with_force(force: bool) -> Existing {
        match force {
            true => Existing::TargetReplaced,
            false => Existing::Kept,
        }
    }
}

/// Why a file can't be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{}: exists already; choose another name, or replace it with -f", file.display())]
    Exists { file: PathBuf },

    #[error("{}: is a symbolic link; name the file itself, or replace what it leads to with -f", file.display())]
    Link { file: PathBuf },

    #[error("{}: is a symbolic link that leads nowhere; remove it, or name another file", file.display())]
    DeadLink { file: PathBuf },

    #[error("{}: is a {what}; name a file", file.display())]
    NoFile { file: PathBuf, what: &'static str },

    #[error("{}: {source}", file.display())]
    Io { file: PathBuf, source: io::Error },
}

impl OutputError {
    pub fn file(&self) -> &Path {
        match self {
            OutputError::Exists { file }
            | OutputError::Link { file }
            | OutputError::DeadLink { file }
            | OutputError::NoFile { file, .. }
            | OutputError::Io { file, .. } => file,
        }
    }

    fn io(file: &Path) -> impl FnOnce(io::Error) -> OutputError + '_ {
        move |source| OutputError::Io {
            file: file.to_path_buf(),
            source,
        }
    }
}

/// Where the bytes for a path go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Nothing is there.
    New,
    /// This regular file is to be replaced.
    Replaced(PathBuf),
    /// A device, pipe or FIFO.
    Through(Through),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Through {
    StandardOutput,
    StandardError,
    Path,
}

impl Destination {
    /// Looks at what is there, and changes nothing.
    pub fn of(path: &Path, existing: Existing) -> Result<Destination, OutputError> {
        // The program that started the process opened what is there, even if that is a file.
        match path.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
                return Ok(Destination::Through(Through::StandardOutput));
            }
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => {
                return Ok(Destination::Through(Through::StandardError));
            }
            _ => {}
        }
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Destination::New),
            Err(error) => return Err(OutputError::io(path)(error)),
        };
        if found.is_symlink() {
            return Self::of_link(path, existing);
        }
        if let Some(refusal) = refusal(path, found) {
            return Err(refusal);
        }
        match (found.is_file(), existing) {
            (false, _) => Ok(Destination::Through(Through::Path)),
            (true, Existing::Kept) => Err(OutputError::Exists {
                file: path.to_path_buf(),
            }),
            (true, _) => Ok(Destination::Replaced(path.to_path_buf())),
        }
    }

    fn of_link(path: &Path, existing: Existing) -> Result<Destination, OutputError> {
        let file = path.to_path_buf();
        let found = match fs::metadata(path) {
            Ok(found) => found.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OutputError::DeadLink { file });
            }
            Err(error) => return Err(OutputError::io(path)(error)),
        };
        if let Some(refusal) = refusal(path, found) {
            return Err(refusal);
        }
        match existing {
            // The system's own links lead to what the process was given: /dev/fd/63 of a shell's `>(command)`.
            _ if !found.is_file() && is_of_the_system(path) => Ok(Destination::Through(Through::Path)),
            Existing::TargetReplaced if found.is_file() => {
                let target = fs::canonicalize(path).map_err(OutputError::io(path))?;
                Ok(Destination::Replaced(target))
            }
            Existing::TargetReplaced => Ok(Destination::Through(Through::Path)),
            Existing::Kept | Existing::FileReplaced => Err(OutputError::Link { file }),
        }
    }
}

/// Refuses targets that are never meant: a disk, for example, would lose its content.
fn refusal(path: &Path, found: FileType) -> Option<OutputError> {
    let what = match () {
        () if found.is_dir() => "folder",
        () if found.is_socket() => "socket",
        () if found.is_block_device() => "block device",
        () => return None,
    };
    Some(OutputError::NoFile {
        file: path.to_path_buf(),
        what,
    })
}

/// Whether only the system makes links there.
fn is_of_the_system(path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.is_some_and(|folder| folder.starts_with("/proc"))
}

impl Through {
    pub fn open(&self, path: &Path) -> io::Result<File> {
        match self {
            Through::StandardOutput => io::stdout().as_fd().try_clone_to_owned().map(File::from),
            Through::StandardError => io::stderr().as_fd().try_clone_to_owned().map(File::from),
            Through::Path => {
                let file = OpenOptions::new().write(true).open(path)?;
                match file.metadata()?.is_file() {
                    // It was no file a moment ago.
                    true => Err(io::Error::other("was replaced by a file meanwhile; try again")),
                    false => Ok(file),
                }
            }
        }
    }
}

/// A file on its way. Dropped before [`OutputFile::finish`], it leaves what was there as it was.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// It gets its name at the end; whether that may replace a file.
    Unnamed {
        file: NamedTempFile,
        replaces: Option<PathBuf>,
    },
    Through(File),
}

impl OutputFile {
    /// Checks whether the file could be created now, and changes nothing. Call it before long work.
    ///
    /// # Errors
    /// Those of [`OutputFile::create`].
    pub fn check(path: &Path, existing: Existing) -> Result<(), OutputError> {
        match Destination::of(path, existing)? {
            Destination::Through(_) => Ok(()),
            destination => OutputFile::begin(path, destination).map(drop),
        }
    }

    /// Begins the file, which only its owner may read.
    ///
    /// # Errors
    /// If something is in the way, or the folder can't be written to.
    pub fn create(path: &Path, existing: Existing) -> Result<OutputFile, OutputError> {
        OutputFile::begin(path, Destination::of(path, existing)?)
    }

    fn begin(path: &Path, destination: Destination) -> Result<OutputFile, OutputError> {
        let replaces = match destination {
            Destination::New => None,
            Destination::Replaced(target) => Some(target),
            Destination::Through(through) => {
                let file = through.open(path).map_err(OutputError::io(path))?;
                return Ok(OutputFile {
                    path: path.to_path_buf(),
                    kind: Kind::Through(file),
                });
            }
        };
        let folder = replaces.as_deref().unwrap_or(path).parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        // Its mode is 0600.
        let file = NamedTempFile::with_prefix_in(".trackway-", folder.unwrap_or(Path::new(".")));
        Ok(OutputFile {
            path: path.to_path_buf(),
            kind: Kind::Unnamed {
                file: file.map_err(OutputError::io(path))?,
                replaces,
            },
        })
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        match &self.kind {
            Kind::Unnamed { file, .. } => file.as_file(),
            Kind::Through(file) => file,
        }
    }

    /// The file, open to be read and written anywhere; none where it is written through.
    pub fn random_access(&self) -> Option<&File> {
        match &self.kind {
            Kind::Unnamed { file, .. } => Some(file.as_file()),
            Kind::Through(_) => None,
        }
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// If a file of that name has appeared meanwhile that must not be replaced, or the system refuses.
    pub fn finish(self) -> Result<(), OutputError> {
        self.publish().map(drop)
    }

    /// Gives it its name now, though more will be written to it.
    ///
    /// # Errors
    /// Those of [`OutputFile::finish`].
    pub fn publish(self) -> Result<File, OutputError> {
        let path = self.path;
        let named = match self.kind {
            Kind::Through(file) => return Ok(file),
            Kind::Unnamed {
                file,
                replaces: Some(target),
            } => file.persist(target),
            Kind::Unnamed { file, replaces: None } => file.persist_noclobber(&path),
        };
        named.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => OutputError::Exists { file: path },
            _ => OutputError::io(&path)(error.error),
        })
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Unnamed { file, .. } => file.write(bytes),
            Kind::Through(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Unnamed { file, .. } => file.flush(),
            Kind::Through(file) => file.flush(),
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// Those of [`OutputFile::create`] and [`OutputFile::finish`], and of writing.
pub fn write_whole(path: &Path, content: &[u8], existing: Existing) -> Result<(), OutputError> {
    let mut file = OutputFile::create(path, existing)?;
    file.write_all(content).map_err(OutputError::io(path))?;
    file.finish()
}
