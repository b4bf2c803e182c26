//! An object's file: where its functions begin, and their bytes.

use std::path::Path;

use memmap2::Mmap;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind};
use trackway_trace::open_regular;

const PAGE: u64 = 4096;

/// What a file says of the code in it. Addresses are those of the file.
pub struct ObjectFile {
    bytes: Mmap,
    segments: Vec<Segment>,
    /// Where functions begin, in order.
    starts: Vec<u64>,
    first_address: u64,
    build_id: Vec<u8>,
}

struct Segment {
    address: u64,
    file_offset: u64,
    /// Bytes in the file.
    length: u64,
    is_executable: bool,
}

impl ObjectFile {
    /// None if there is no such file, or if it is no object of x86-64.
    pub fn open(path: &Path) -> Option<Self> {
        let file = open_regular(path).ok()?;
        // SAFETY: only read. Whoever changes an object that is running breaks the program, too.
        let bytes = unsafe { Mmap::map(&file) }.ok()?;
        let object = object::File::parse(&*bytes).ok()?;
        if object.architecture() != object::Architecture::X86_64 {
            return None;
        }
        let segments: Vec<Segment> = object.segments().map(|segment| Segment::of(&segment)).collect();
        let first = segments.iter().map(|segment| segment.address).min()?;
        let starts = function_starts(&object);
        Some(ObjectFile {
            segments,
            starts,
            first_address: first & !(PAGE - 1),
            build_id: object.build_id().ok().flatten().unwrap_or_default().to_vec(),
            bytes,
        })
    }

    /// Address at which offset 0 of the object's memory image is, in the file's own addresses.
    pub fn first_address(&self) -> u64 {
        self.first_address
    }

    /// Identifies other copies of the file; empty if it has none.
    pub fn build_id(&self) -> &[u8] {
        &self.build_id
    }

    /// The file's address of what stands at an offset of the file, if it is loaded, as code or as data.
    pub fn address_at(&self, file_offset: u64, is_executable: bool) -> Option<u64> {
        // Mappings begin at pages, and may begin before their segment: a page may belong to two of them.
        let mut segments = self
            .segments
            .iter()
            .filter(|segment| segment.is_executable == is_executable);
        let segment = segments.find(|segment| {
            let begin = segment.file_offset & !(PAGE - 1);
            segment.length > 0 && file_offset >= begin && file_offset < segment.file_offset + segment.length
        })?;
        Some(
            segment
                .address
                .wrapping_add(file_offset)
                .wrapping_sub(segment.file_offset),
        )
    }

    /// Bounds of the function that holds the address. It ends at the next one's begin, or at the end of the code. None
    /// if the address isn't in code, or is before all functions.
    pub fn function_around(&self, address: u64) -> Option<(u64, u64)> {
        let segment = self.code_segment(address)?;
        let next = self.starts.partition_point(|start| *start <= address);
        let start = *self.starts[..next].last()?;
        let end = segment.address + segment.length;
        let end = self.starts.get(next).map_or(end, |next| end.min(*next));
        (start >= segment.address).then_some((start, end))
    }

    /// Code between two addresses of the same segment.
    pub fn code(&self, start: u64, end: u64) -> Option<&[u8]> {
        let segment = self.code_segment(start)?;
        let begin = usize::try_from(segment.file_offset + (start - segment.address)).ok()?;
        let length = usize::try_from(end.checked_sub(start)?).ok()?;
        self.bytes.get(begin..begin.checked_add(length)?)
    }

    fn code_segment(&self, address: u64) -> Option<&Segment> {
        let inside = |segment: &&Segment| address.wrapping_sub(segment.address) < segment.length;
        self.segments
            .iter()
            .filter(|segment| segment.is_executable)
            .find(inside)
    }
}

impl Segment {
    fn of(segment: &object::Segment) -> Self {
        let (file_offset, length) = segment.file_range();
        let flags = match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0,
            _ => 0,
        };
        Segment {
            address: segment.address(),
            file_offset,
            length,
            is_executable: flags & object::elf::PF_X.0 != 0,
        }
    }
}

/// Finds functions by symbols, and by the unwinder's table, which stripped objects have, too.
fn function_starts(object: &object::File) -> Vec<u64> {
    let symbols = object.symbols().chain(object.dynamic_symbols());
    let mut starts: Vec<u64> = symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .map(|symbol| symbol.address())
        .collect();
    if let Some(section) = object.section_by_name(".eh_frame_hdr") {
        let data = section.data().unwrap_or_default();
        starts.extend(unwinder_starts(data, section.address()));
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Functions by the search table of `.eh_frame_hdr`, in the form that linkers write it: pairs of 32-bit distances from
/// the section's begin.
fn unwinder_starts(data: &[u8], section_address: u64) -> Vec<u64> {
    const VERSION_AND_FORMS: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    const TABLE: usize = 12;
    const ENTRY: usize = 8;
    if !data.starts_with(&VERSION_AND_FORMS) || data.len() < TABLE {
        return Vec::new();
    }
    let word = |at: usize| data[at..at + 4].try_into().map(i32::from_le_bytes).unwrap_or(0);
    let count = word(8) as u32 as usize;
    data[TABLE..]
        .chunks_exact(ENTRY)
        .take(count)
        .map(|entry| {
            let distance = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            section_address.wrapping_add_signed(distance.into())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_a_stripped_object_are_found_by_the_unwinders_table() {
        let mut data = vec![1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 2, 0, 0, 0];
        for word in [0x100i32, 0x40, -0x10, 0x60, 0x300, 0] {
            data.extend_from_slice(&word.to_le_bytes());
        }
        assert_eq!(unwinder_starts(&data, 0x1000), [0x1100, 0xff0]);
        data[3] = 0;
        assert!(unwinder_starts(&data, 0x1000).is_empty());
        assert!(unwinder_starts(&[1, 0x1b, 0x03, 0x3b], 0).is_empty());
    }

    #[test]
    fn this_programs_functions_are_found() {
        let path = std::env::current_exe().unwrap();
        let object = ObjectFile::open(&path).unwrap();
        let anywhere = object.starts[object.starts.len() / 2];
        let (start, end) = object.function_around(anywhere).unwrap();
        assert!(start == anywhere && end > start);
        assert_eq!(object.code(start, end).unwrap().len() as u64, end - start);
        assert_eq!(object.function_around(u64::MAX), None);
        assert!(ObjectFile::open(Path::new("/etc/passwd")).is_none());
        assert!(ObjectFile::open(Path::new("/dev/zero")).is_none());
    }
}
