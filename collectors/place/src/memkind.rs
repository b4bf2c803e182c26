//! Kinds of memory of the memkind library: what they are called, and whether this machine has them.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use libloading::Symbol;
use rustix::fs::{fallocate, FallocateFlags};
use trackway_answers::failure::Failure;

use crate::libnuma::Libnuma;
use crate::shared_library::SharedLibrary;

const LIBRARY: &str = "libmemkind.so.0";
/// Debian's package that has it.
pub const PACKAGE: &str = "libmemkind0";
/// What `memkind_create_pmem` takes at least, bytes: `MEMKIND_PMEM_MIN_SIZE`.
const LEAST_FOLDER_BYTES: u64 = 16 << 20;
/// Characters of memkind's messages: `MEMKIND_ERROR_MESSAGE_SIZE`.
const MOST_MESSAGE: usize = 128;
const PAGE: u64 = 4096;

/// The kinds that memkind 1.14 has of its own, without those that choose nothing or whose page size it gave up. The
/// variable that holds one is called alike: `MEMKIND_HBW_ALL`.
const NAMES: [&str; 22] = [
    "dax-kmem",
    "dax-kmem-all",
    "dax-kmem-preferred",
    "dax-kmem-interleave",
    "hbw",
    "hbw-all",
    "hbw-preferred",
    "hbw-interleave",
    "hbw-hugetlb",
    "hbw-all-hugetlb",
    "hbw-preferred-hugetlb",
    "highest-capacity",
    "highest-capacity-preferred",
    "highest-capacity-local",
    "highest-capacity-local-preferred",
    "lowest-latency-local",
    "lowest-latency-local-preferred",
    "highest-bandwidth-local",
    "highest-bandwidth-local-preferred",
    "hugetlb",
    "interleave",
    "regular",
];

/// A kind of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Files in this folder, as `memkind_create_pmem` makes them.
    Folder(PathBuf),
    /// One of memkind's own.
    Named(&'static str),
}

impl Kind {
    /// A folder has a slash.
    ///
    /// # Errors
    /// If there is no kind of that name.
    pub fn parse(text: &str) -> Result<Kind, String> {
        if text.contains('/') {
            return Ok(Kind::Folder(text.into()));
        }
        let name = NAMES.iter().find(|name| **name == text);
        name.map(|name| Kind::Named(name)).ok_or_else(|| {
            format!(
                "expected a folder (with a slash, such as /mnt/pmem or ./) or one of {}",
                NAMES.join(", ")
            )
        })
    }

    /// Whether the program will be able to allocate from it: looked up before it starts.
    ///
    /// # Errors
    /// If the library, the memory or a usable folder is missing.
    pub fn require(self, capacity_bytes: u64) -> Result<Kind, Failure> {
        let memkind = Memkind::load()?;
        match self {
            Kind::Folder(folder) if capacity_bytes < LEAST_FOLDER_BYTES => {
                let problem = "memkind takes folders of 16M on; give a larger --far-size";
                Err(Failure::about(&folder, problem))
            }
            Kind::Folder(folder) => require_folder(&folder).map(Kind::Folder),
            Kind::Named(name) => memkind.require(name).map(|()| self),
        }
    }
}

/// Whether the library can be loaded.
pub fn is_installed() -> bool {
    // SAFETY: as in `Memkind::load`.
    unsafe { SharedLibrary::load(LIBRARY) }.is_ok()
}

/// The variable that holds a kind.
pub fn variable(name: &str) -> String {
    format!("MEMKIND_{}", name.replace('-', "_").to_uppercase())
}

/// memkind makes files there, and gives back what was freed by making holes in them.
fn require_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let folder = fs::canonicalize(folder).map_err(|error| Failure::about(folder, error))?;
    let file = tempfile::tempfile_in(&folder)
        .map_err(|error| Failure::about(&folder, format!("memkind can't make files there: {error}")))?;
    file.set_len(PAGE)
        .map_err(|error| Failure::about(&folder, error))?;
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file.as_fd(), hole, 0, PAGE).map_err(|error| {
        let problem = format!(
            "memkind can't give memory back there: files of this file system can't have holes made ({error}); ext4, \
             xfs, btrfs and tmpfs can"
        );
        Failure::about(&folder, problem)
    })?;
    Ok(folder)
}

struct Memkind {
    library: SharedLibrary,
}

type KindPointer = *mut c_void;

impl Memkind {
    fn load() -> Result<Memkind, Failure> {
        // SAFETY: what memkind does when it is loaded is to set up its allocator, which nobody calls.
        let library = unsafe { SharedLibrary::load(LIBRARY) }.map_err(|error| {
            Failure::new(format!(
                "memkind can't be loaded: {error}; install Debian's package {PACKAGE}, or use --far-node or --far-file"
            ))
        })?;
        Ok(Memkind { library })
    }

    fn require(&self, name: &str) -> Result<(), Failure> {
        // Where there are none memkind ends a program that allocates.
        Libnuma::load("memkind")?;
        let Some(problem) = self.problem(name)? else {
            return Ok(());
        };
        let available: Vec<&str> = NAMES
            .into_iter()
            .filter(|name| matches!(self.problem(name), Ok(None)))
            .collect();
        Err(Failure::new(format!(
            "this machine has no memory of memkind's kind {name}: {problem}; it has {}, and any folder",
            available.join(", ")
        )))
    }

    /// What is against using a kind.
    fn problem(&self, name: &str) -> Result<Option<String>, Failure> {
        // SAFETY: `struct memkind *MEMKIND_...` and `int memkind_check_available(struct memkind *)` of memkind.h.
        let error = unsafe {
            let kind: Symbol<*const KindPointer> = self.library.symbol(&variable(name))?;
            let check: Symbol<unsafe extern "C" fn(KindPointer) -> c_int> =
                self.library.symbol("memkind_check_available")?;
            check(**kind)
        };
        match error {
            0 => Ok(None),
            error => self.message(error).map(Some),
        }
    }

    fn message(&self, error: c_int) -> Result<String, Failure> {
        let mut text = [0 as c_char; MOST_MESSAGE];
        // SAFETY: `void memkind_error_message(int, char *, size_t)` writes a text with its final zero byte.
        let text = unsafe {
            let write: Symbol<unsafe extern "C" fn(c_int, *mut c_char, usize)> =
                self.library.symbol("memkind_error_message")?;
            write(error, text.as_mut_ptr(), text.len());
            CStr::from_ptr(text.as_ptr())
        };
        let text = text.to_string_lossy();
        Ok(text.trim_start_matches("<memkind>").trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_names_or_folders() {
        assert_eq!(Kind::parse("hbw-all"), Ok(Kind::Named("hbw-all")));
        assert_eq!(Kind::parse("./"), Ok(Kind::Folder("./".into())));
        assert_eq!(variable("dax-kmem-all"), "MEMKIND_DAX_KMEM_ALL");
        assert!(Kind::parse("pmem").unwrap_err().contains("dax-kmem-all, "));
    }
}
