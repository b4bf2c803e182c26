//! Finds what stands in the executable mappings that a process reports.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use object::elf::FileHeader64;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, Object, ReadCache};
use trackway_trace::{Mapping, Protection};

const PAGE: u64 = 4096;
/// Segments of an object, bytes of its build id, and objects of a recording that are looked at.
const MOST_SEGMENTS: usize = 64;
const LONGEST_BUILD_ID: usize = 64;
const MOST_OBJECTS: usize = 1 << 16;

/// An object as far as mappings of it need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFile {
    segments: Vec<Segment>,
    build_id: Vec<u8>,
}

/// A loaded segment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    file_offset: u64,
    file_length: u64,
    address: u64,
    executable: bool,
}

impl ObjectFile {
    /// None if it is no object that can be read.
    fn open(path: &str) -> Option<Self> {
        // Read, not mapped: the program says which file it is, and may shorten it at any time.
        let file = ReadCache::new(open_regular(path)?);
        let elf = ElfFile::<FileHeader64<Endianness>, _>::parse(&file).ok()?;
        let endian = elf.endian();
        let headers = elf.elf_header().program_headers(endian, &file).ok()?;
        let loaded = headers
            .iter()
            .filter(|header| header.p_type(endian) == object::elf::PT_LOAD);
        Some(ObjectFile {
            segments: loaded
                .take(MOST_SEGMENTS)
                .map(|header| Segment {
                    file_offset: header.p_offset(endian),
                    file_length: header.p_filesz(endian),
                    address: header.p_vaddr(endian),
                    executable: header.p_flags(endian).contains(object::elf::PF_X),
                })
                .collect(),
            build_id: elf
                .build_id()
                .ok()
                .flatten()
                .filter(|id| id.len() <= LONGEST_BUILD_ID)
                .unwrap_or_default()
                .to_vec(),
        })
    }

    /// Where the first byte of the memory image is, if code that stands at `offset` in the file is mapped at `start`;
    /// 0 if no segment has that code. Segments of other kinds may share its first page.
    fn load_address(&self, start: u64, offset: u64) -> u64 {
        let first = self.segments.iter().map(|segment| segment.address).min();
        let holds = |segment: &&Segment| {
            let page = segment.file_offset & !(PAGE - 1);
            segment.executable
                && (page..segment.file_offset.saturating_add(segment.file_length)).contains(&offset)
        };
        let segment = self.segments.iter().find(holds);
        match (segment, first) {
            (Some(segment), Some(first)) => {
                let linked = segment
                    .address
                    .wrapping_add(offset)
                    .wrapping_sub(segment.file_offset);
                start.wrapping_sub(linked).wrapping_add(first & !(PAGE - 1))
            }
            _ => 0,
        }
    }
}

/// The program says which file to open, so it may be anything: what isn't a file could wait for ever, or do something.
fn open_regular(path: &str) -> Option<File> {
    if !path.starts_with('/') {
        return None;
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The objects of a recording by path; none if they can't be read.
#[derive(Debug, Default)]
pub struct MappedObjects(HashMap<String, Option<ObjectFile>>);

impl MappedObjects {
    /// The mappings of lines of /proc/PID/maps; what isn't such a line is left out.
    pub fn mappings(&mut self, lines: &[u8]) -> Vec<Mapping> {
        let text = String::from_utf8_lossy(lines);
        text.lines().filter_map(|line| self.mapping(line)).collect()
    }

    fn mapping(&mut self, line: &str) -> Option<Mapping> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
        let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
        let mode = words.next()?.as_bytes();
        let file_offset = hexadecimal(words.next()?)?;
        let path = words.nth(2).unwrap_or_default().trim_start();
        let object = match self.0.len() < MOST_OBJECTS || self.0.contains_key(path) {
            true => self
                .0
                .entry(path.to_owned())
                .or_insert_with(|| ObjectFile::open(path))
                .as_ref(),
            false => None,
        };
        Some(Mapping {
            start,
            length: end.checked_sub(start)?,
            file_offset,
            protection: Protection {
                readable: mode.first() == Some(&b'r'),
                writable: mode.get(1) == Some(&b'w'),
                executable: mode.get(2) == Some(&b'x'),
                shared: mode.get(3) == Some(&b's'),
            },
            path: path.to_owned(),
            build_id: object.map(|object| object.build_id.clone()).unwrap_or_default(),
            load_address: object.map_or(0, |object| object.load_address(start, file_offset)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_begins_where_its_first_page_is_mapped() {
        let segment = |file_offset, file_length, address, executable| Segment {
            file_offset,
            file_length,
            address,
            executable,
        };
        let object = ObjectFile {
            segments: vec![
                segment(0, 0x1600, 0x40_0000, false),
                segment(0x1640, 0x2000, 0x40_2640, true),
            ],
            build_id: Vec::new(),
        };
        assert_eq!(object.load_address(0x40_2000, 0x1000), 0x40_0000);
        assert_eq!(object.load_address(0x7f00_0000_2000, 0x1000), 0x7f00_0000_0000);
        assert_eq!(object.load_address(0x7f00_0000_0000, 0), 0);
        assert_eq!(object.load_address(0x7f00_0000_0000, 0x9000), 0);
    }

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
        // SAFETY: the name ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [fifo.to_str().unwrap(), "/dev/zero", "/", "Cargo.toml"] {
            assert!(open_regular(path).is_none(), "{path}");
        }
        assert!(open_regular("/proc/self/exe").is_some());
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
