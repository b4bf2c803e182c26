//! Reading a file whose name a stranger chose: nothing without end, nothing out of bounds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::Path;

use trackway_trace::{open_regular, open_regular_itself};

/// Longer files are not source code.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// The content of a regular file. Files that have no size, as those of /proc, are empty here, and never read.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    read(&open_regular(path)?)
}

/// The same, if the file is below the folder, whatever links lead there. `root` has no links in it.
pub fn read_below(root: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let real = fs::canonicalize(path)?;
    require(real.starts_with(root))?;
    let file = open_regular_itself(&real)?;
    // A folder may have become a link meanwhile.
    let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    require(opened.starts_with(root))?;
    read(&file)
}

fn read(file: &File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    require(length <= MAX_FILE_BYTES)?;
    let mut content = Vec::new();
    file.take(length).read_to_end(&mut content)?;
    Ok(content)
}

fn require(condition: bool) -> io::Result<()> {
    condition.then_some(()).ok_or(io::ErrorKind::InvalidInput.into())
}
