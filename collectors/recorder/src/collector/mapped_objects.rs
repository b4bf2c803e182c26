//! Finds what stands in the executable mappings that a process reports.

use std::collections::HashMap;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ReadCache};
use trackway_names::{maps_lines, MapsLine, Segments};
use trackway_trace::{open_regular, Mapping};

/// Bytes of a build id, and objects of a recording that are looked at.
const LONGEST_BUILD_ID: usize = 64;
const MOST_OBJECTS: usize = 1 << 16;

/// An object as far as mappings of it need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ObjectFile {
    segments: Segments,
    build_id: Vec<u8>,
}

impl ObjectFile {
    /// None if it is no object that can be read.
    fn open(path: &str) -> Option<Self> {
        // Read, not mapped: the program says which file it is, and may shorten it at any time.
        let path = Path::new(path);
        let file = ReadCache::new(path.is_absolute().then(|| open_regular(path))?.ok()?);
        let elf = ElfFile::<FileHeader64<Endianness>, _>::parse(&file).ok()?;
        Some(ObjectFile {
            segments: Segments::of(&elf),
            build_id: elf
                .build_id()
                .ok()
                .flatten()
                .filter(|id| id.len() <= LONGEST_BUILD_ID)
                .unwrap_or_default()
                .to_vec(),
        })
    }
}

/// The objects of a recording by path; none if they can't be read.
#[derive(Debug, Default)]
pub struct MappedObjects(HashMap<String, Option<ObjectFile>>);

impl MappedObjects {
    /// The mappings of lines of /proc/PID/maps; what isn't such a line is left out.
    pub fn mappings(&mut self, lines: &[u8]) -> Vec<Mapping> {
        maps_lines(&String::from_utf8_lossy(lines))
            .map(|line| self.mapping(line))
            .collect()
    }

    fn mapping(&mut self, line: MapsLine) -> Mapping {
        let path = line.path;
        let object = match self.0.len() < MOST_OBJECTS || self.0.contains_key(path) {
            true => self
                .0
                .entry(path.to_owned())
                .or_insert_with(|| ObjectFile::open(path))
                .as_ref(),
            false => None,
        };
        Mapping {
            start: line.start,
            length: line.end - line.start,
            file_offset: line.file_offset,
            protection: line.protection,
            path: path.to_owned(),
            build_id: object.map(|object| object.build_id.clone()).unwrap_or_default(),
            load_address: object
                .and_then(|object| object.segments.load_address(line.start, line.file_offset, true))
                .unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
        // SAFETY: the name ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [fifo.to_str().unwrap(), "/dev/zero", "/", "src/lib.rs"] {
            assert!(ObjectFile::open(path).is_none(), "{path}");
        }
        assert!(ObjectFile::open("/proc/self/exe").is_some());
    }

    #[test]
    fn this_program_finds_itself() {
        let maps = std::fs::read("/proc/self/maps").unwrap();
        let mappings = MappedObjects::default().mappings(&maps);
        let here = MappedObjects::mappings as *const () as u64;
        let code = mappings.iter().find(|mapping| mapping.contains(here)).unwrap();
        assert!(code.protection.executable && !code.protection.writable);
        assert_eq!(code.path, std::env::current_exe().unwrap().to_str().unwrap());
        let first = mappings.iter().find(|mapping| mapping.path == code.path).unwrap();
        assert_eq!(code.load_address, first.start);
        assert!(MappedObjects::default()
            .mappings(b"no mapping\n7f-\nxyz-7f r-xp 0 0 0\n")
            .is_empty());
    }
}
