//! The code of an object's file: where its functions begin, and their bytes.

use std::rc::Rc;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use trackway_names::Segments;
use trackway_perf_records::ObjectFile;

/// What a file says of the code in it. Addresses are those of the file.
pub struct ObjectCode {
    file: Rc<ObjectFile>,
    /// Where functions begin, in order.
    starts: Vec<u64>,
}

impl ObjectCode {
    /// Finds the functions of the file.
    pub fn new(file: Rc<ObjectFile>) -> Self {
        let starts = match object::File::parse(file.bytes()) {
            Ok(object) => function_starts(&object),
            Err(_) => Vec::new(),
        };
        ObjectCode { file, starts }
    }

    /// What the file loads, and where.
    pub fn segments(&self) -> &Segments {
        self.file.segments()
    }

    /// Bounds of the function that holds the address. It ends at the next one's begin, or at the end of the code. None
    /// if the address isn't in code, or is before all functions.
    pub fn function_around(&self, address: u64) -> Option<(u64, u64)> {
        let segment = self.segments().code_at(address)?;
        let next = self.starts.partition_point(|start| *start <= address);
        let start = *self.starts[..next].last()?;
        let end = segment.address + segment.length;
        let end = self.starts.get(next).map_or(end, |next| end.min(*next));
        (start >= segment.address).then_some((start, end))
    }

    /// Code between two addresses of the same segment.
    pub fn code(&self, start: u64, end: u64) -> Option<&[u8]> {
        let segment = self.segments().code_at(start)?;
        let begin = usize::try_from(segment.file_offset + (start - segment.address)).ok()?;
        let length = usize::try_from(end.checked_sub(start)?).ok()?;
        self.file.bytes().get(begin..begin.checked_add(length)?)
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
        let object = ObjectCode::new(Rc::new(ObjectFile::open(&path).unwrap()));
        let anywhere = object.starts[object.starts.len() / 2];
        let (start, end) = object.function_around(anywhere).unwrap();
        assert!(start == anywhere && end > start);
        assert_eq!(object.code(start, end).unwrap().len() as u64, end - start);
        assert_eq!(object.function_around(u64::MAX), None);
    }
}
