//! How large buffers are: a program's counters, whose number is in its file, must fit into one.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ReadCache};
use trackway_answers::info::TABLES_SECTION;
use trackway_trace::table::{TableHeader, TABLE_HEADER_LENGTH};

/// Bytes of a buffer: the chosen number or, by default, the usual size and what the program's counters need. The usual
/// size is left for the counters of shared objects.
pub fn buffer_size(program: &OsStr, chosen: Option<u32>) -> u32 {
    const USUAL: u32 = 256 * 1024;
    const PAGE: u64 = 4096;
    const MOST: u64 = 1 << 28;
    chosen.unwrap_or_else(|| {
        let counters = find(program).and_then(|path| counters(&path)).unwrap_or(0);
        let wanted = u64::from(USUAL).saturating_add(counters.saturating_mul(8));
        wanted.next_multiple_of(PAGE).min(MOST) as u32
    })
}

/// Bytes of a buffer, as the command line has them.
pub fn parse_buffer_size(text: &str) -> Result<u32, String> {
    let size = trackway_analysis::cache::parse_size(text)
        .ok_or("expected a number of bytes, such as 65536 or 256K")?;
    u32::try_from(size).map_err(|_| "must be less than 4G".into())
}

/// Whether the program's file surely has nothing that records or counts: it is machine code, and has no table of sites.
/// Code that it loads or starts may still record.
pub fn is_plain(program: &OsStr) -> bool {
    let file = find(program).and_then(|path| File::open(path).ok());
    file.is_some_and(|file| {
        let bytes = ReadCache::new(file);
        let parsed = object::File::parse(&bytes);
        parsed.is_ok_and(|file| file.section_by_name(TABLES_SECTION).is_none())
    })
}

/// Whether the program counts.
pub fn counts(program: &OsStr) -> bool {
    find(program).and_then(|path| counters(&path)).unwrap_or(0) > 0
}

/// Path of the program that the shell would start.
fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_absolute() {
        return Some(path.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|path| path.is_file())
}

/// Sum of the counters of all tables; only the tables' headers are read.
fn counters(path: &Path) -> Option<u64> {
    let file = File::open(path).ok()?;
    let cache = ReadCache::new(&file);
    let elf = object::File::parse(&cache).ok()?;
    let (mut position, size) = elf.section_by_name(TABLES_SECTION)?.file_range()?;
    let end = position.saturating_add(size);
    let mut counters = 0u64;
    while position < end {
        let mut header = [0; TABLE_HEADER_LENGTH];
        file.read_exact_at(&mut header, position).ok()?;
        match TableHeader::read(&header) {
            Some(table) => {
                counters += u64::from(table.counters);
                position = position.saturating_add(table.length);
            }
            // Zero bytes may stand between tables.
            None if header[0] == 0 => position += 1,
            None => return None,
        }
    }
    Some(counters)
}
