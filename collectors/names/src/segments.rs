//! Which addresses an object's file gives to what it loads.

use object::{Object, ObjectSegment, SegmentFlags};

const PAGE: u64 = 4096;
/// More are not looked at: a program says which file is an object.
const MOST_SEGMENTS: usize = 64;

/// An object's loaded segments. Addresses are the file's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments(Vec<Segment>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub address: u64,
    pub file_offset: u64,
    /// Bytes in the file.
    pub length: u64,
    pub is_executable: bool,
}

impl Segments {
    pub fn of<'d>(object: &impl Object<'d>) -> Self {
        let segments = object.segments().take(MOST_SEGMENTS);
        Segments(segments.map(|segment| Segment::of(&segment)).collect())
    }

    /// The address of the page at which the object's memory image begins; 0 if nothing is loaded.
    pub fn first_address(&self) -> u64 {
        let first = self.0.iter().map(|segment| segment.address).min();
        first.unwrap_or(0) & !(PAGE - 1)
    }

    /// The address of what stands at an offset of the file, if it is loaded as code, or as data.
    pub fn address_at(&self, file_offset: u64, is_executable: bool) -> Option<u64> {
        // Mappings begin at pages, and may begin before their segment: a page may belong to two of them.
        let holds = |segment: &&Segment| {
            let page = segment.file_offset & !(PAGE - 1);
            segment.is_executable == is_executable
                && segment.length > 0
                && (page..segment.file_offset.saturating_add(segment.length)).contains(&file_offset)
        };
        let segment = self.0.iter().find(holds)?;
        let distance = file_offset.wrapping_sub(segment.file_offset);
        Some(segment.address.wrapping_add(distance))
    }

    /// Where the object's memory image begins in a process, if what stands at an offset of the file is mapped at
    /// `start`.
    pub fn load_address(&self, start: u64, file_offset: u64, is_executable: bool) -> Option<u64> {
        let address = self.address_at(file_offset, is_executable)?;
        Some(start.wrapping_sub(address).wrapping_add(self.first_address()))
    }

    /// The segment of code that holds the address.
    pub fn code_at(&self, address: u64) -> Option<&Segment> {
        let code = self.0.iter().filter(|segment| segment.is_executable);
        code.into_iter()
            .find(|segment| address.wrapping_sub(segment.address) < segment.length)
    }
}

impl Segment {
    fn of<'d>(segment: &impl ObjectSegment<'d>) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_begins_where_its_first_page_is_mapped() {
        let segment = |file_offset, length, address, is_executable| Segment {
            address,
            file_offset,
            length,
            is_executable,
        };
        let segments = Segments(vec![
            segment(0, 0x1600, 0x40_0000, false),
            segment(0x1640, 0x2000, 0x40_2640, true),
        ]);
        assert_eq!(segments.load_address(0x40_2000, 0x1000, true), Some(0x40_0000));
        assert_eq!(
            segments.load_address(0x7f00_0000_2000, 0x1000, true),
            Some(0x7f00_0000_0000)
        );
        assert_eq!(segments.load_address(0x7f00_0000_0000, 0, true), None);
        assert_eq!(
            segments.load_address(0x7f00_0000_0000, 0, false),
            Some(0x7f00_0000_0000)
        );
        assert_eq!(segments.load_address(0x7f00_0000_0000, 0x9000, true), None);
        assert_eq!(
            segments.code_at(0x40_2640).map(|segment| segment.length),
            Some(0x2000)
        );
        assert_eq!(segments.code_at(0x40_0000), None);
        assert_eq!(Segments::default().first_address(), 0);
    }
}
