//! Traces that lie in a folder together.

use std::path::{Path, PathBuf};

use crate::TraceError;

/// The files named `*.trackway` in a folder and in those within it, in the order of their paths. Links to folders, which
/// could go round, are not followed.
///
/// # Errors
/// If a folder can't be read.
pub fn traces_in(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let unreadable = |source| TraceError::Io {
        file: folder.to_owned(),
        action: "read the folder",
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        if entry.file_type().map_err(unreadable)?.is_dir() {
            files.extend(traces_in(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "trackway") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
