//! The places of traces, as users name them.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::copying::copy;
use crate::StoreError;

/// A file or a folder of this machine, where what a user has named can be read.
#[derive(Debug)]
pub struct LocalPlace {
    path: PathBuf,
    copies: Option<Copies>,
}

/// What was copied from a store; the copies are removed with the value.
#[derive(Debug)]
pub struct Copies {
    address: String,
    folder: TempDir,
    /// Bytes of all objects together.
    pub bytes: u64,
    pub objects: usize,
}

/// Whether what a user has named is in a store.
pub fn is_address(place: &Path) -> bool {
    let text = place.to_string_lossy();
    text.split_once("://").is_some_and(|(scheme, _)| scheme != "file")
}

impl LocalPlace {
    /// Opens a place. Paths stay as they are. If the place is in a store, the object at the address is copied or, if
    /// there is none, all objects named `*.trackway` below it. The copies go into a folder of their own, for the user
    /// alone, in the folder `copies`. `progress` is called with the bytes that were added to the copies, and with the
    /// bytes of all.
    ///
    /// # Errors
    /// If the store can't be reached or denies access, has no trace there, or the copies can't be written.
    pub fn open(
        place: &Path,
        copies: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<LocalPlace, StoreError> {
        if !is_address(place) {
            let text = place.to_string_lossy();
            let path = text
                .strip_prefix("file://")
                .map_or(place.to_owned(), PathBuf::from);
            return Ok(LocalPlace { path, copies: None });
        }
        let address = place.to_string_lossy().trim_end_matches('/').to_owned();
        let folder = tempfile::tempdir_in(copies).map_err(|source| StoreError::Copying {
            path: copies.to_owned(),
            source,
        })?;
        let copied = copy(&address, folder.path(), progress)?;
        Ok(LocalPlace {
            path: copied.path,
            copies: Some(Copies {
                address,
                folder,
                bytes: copied.bytes,
                objects: copied.objects,
            }),
        })
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was copied, if the place is in a store.
    pub fn copies(&self) -> Option<&Copies> {
        self.copies.as_ref()
    }

    /// What a user calls a file of this place: the address of a copy's object.
    pub fn name_of(&self, file: &Path) -> String {
        let copies = self.copies.as_ref();
        let named = copies.and_then(|copies| {
            let below = file.strip_prefix(copies.folder.path()).ok()?;
            Some(match self.path == file {
                true => copies.address.clone(),
                false => format!("{}/{}", copies.address, below.display()),
            })
        });
        named.unwrap_or_else(|| file.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        assert!(is_address(Path::new("s3://bucket/runs")));
        assert!(!is_address(Path::new("file:///runs")));
        assert!(!is_address(Path::new("runs/a.trackway")));
    }

    #[test]
    fn paths_are_as_they_are() {
        let open =
            |text: &str| LocalPlace::open(Path::new(text), Path::new("/nowhere"), &mut |_, _| ()).unwrap();
        assert_eq!(open("runs/a.trackway").path(), Path::new("runs/a.trackway"));
        assert_eq!(open("file:///runs").path(), Path::new("/runs"));
        assert_eq!(open("runs").name_of(Path::new("runs/a")), "runs/a");
    }

    #[test]
    fn unknown_stores_are_named() {
        let error = LocalPlace::open(
            Path::new("ftp://host/runs"),
            &std::env::temp_dir(),
            &mut |_, _| (),
        )
        .unwrap_err();
        assert!(error.to_string().starts_with("ftp://host/runs: "), "{error}");
        let error = LocalPlace::open(Path::new("s3://"), &std::env::temp_dir(), &mut |_, _| ()).unwrap_err();
        assert!(error.to_string().starts_with("s3:"), "{error}");
    }
}
