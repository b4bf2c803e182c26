//! Opens files with untrusted names: no device, and no pipe that never answers.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read it.
///
/// # Errors
/// If it is anything else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, &fs::metadata(path)?, 0)
}

/// The same for a path that ends in no link.
///
/// # Errors
/// If it ends in one, or leads to anything but a regular file.
pub fn open_regular_itself(path: &Path) -> io::Result<File> {
    open(path, &fs::symlink_metadata(path)?, libc::O_NOFOLLOW)
}

/// `before` tells what the path leads to. It is checked before opening, since opening a device may have an effect.
fn open(path: &Path, before: &Metadata, flags: libc::c_int) -> io::Result<File> {
    require_regular(before)?;
    // A pipe that has taken the file's place meanwhile would wait for its other end.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

fn require_regular(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("this is no regular file")),
    }
}
