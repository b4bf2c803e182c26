//! Makes cargo compile again what was compiled with other options of the pass, or another pass.
//!
//! Cargo doesn't know of them. But rustc writes into a crate's list of dependencies which environment variables it has
//! asked for, and cargo compares their values: so a variable that stands for all of that is added to the list.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub const VARIABLE: &str = "TRACKWAY_FINGERPRINT";

pub struct Fingerprint(String);

impl Fingerprint {
    pub fn of(pass_options: &OsStr, files: impl IntoIterator<Item = impl AsRef<Path>>) -> Fingerprint {
        let mut hasher = DefaultHasher::new();
        pass_options.hash(&mut hasher);
        for file in files {
            let state = fs::metadata(file).ok();
            let state = state.map(|state| (state.len(), state.mtime(), state.mtime_nsec()));
            state.hash(&mut hasher);
        }
        Fingerprint(format!("{:016x}", hasher.finish()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Adds the variable to a list of dependencies as rustc writes it.
pub fn note(dependencies: &Path, value: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(dependencies)?;
    write!(file, "\n# env-dep:{VARIABLE}={value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let plugin = folder.path().join("p.so");
        let print = |options: &str| Fingerprint::of(OsStr::new(options), [&plugin]).0;
        let without = print("");
        fs::write(&plugin, "x").unwrap();
        assert_ne!(print(""), without);
        assert_ne!(print("oracle=1"), print(""));
        assert_eq!(print("oracle=1"), print("oracle=1"));
    }

    #[test]
    fn the_variable_is_a_line_of_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("a.d");
        assert!(note(&list, "1").is_err());
        fs::write(&list, "a: b\n").unwrap();
        note(&list, "1").unwrap();
        assert_eq!(
            fs::read_to_string(&list).unwrap(),
            "a: b\n\n# env-dep:TRACKWAY_FINGERPRINT=1\n"
        );
    }
}
