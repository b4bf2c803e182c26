//! Local ids: which bytes of a record stream name a segment of the function that the stream is in.
//!
//! They are a prefix code of each function's own: the first byte of an id of two bytes is no id of one byte.

use std::collections::HashSet;

use super::Segment;

/// The first id of two bytes has a second byte of 1, as none has 0: zeros at a stream's end are never part of an id.
const FIRST_OF_TWO_BYTES: u16 = 1 << 8;

impl Segment {
    /// Bytes that its local id takes in a record stream; 0: it has none.
    pub fn local_id_length(&self) -> usize {
        match self.local_id {
            0 => 0,
            1..FIRST_OF_TWO_BYTES => 1,
            FIRST_OF_TWO_BYTES.. => 2,
        }
    }

    /// Whether its id is what a record begins with, given its first two bytes.
    fn has_local_id(&self, bytes: [u8; 2]) -> bool {
        let id = match self.local_id_length() {
            1 => u16::from(bytes[0]),
            _ => u16::from_le_bytes(bytes),
        };
        id == self.local_id && id != 0
    }
}

/// The place of the segment among its function's with whose local id a record begins, given the first two bytes.
pub(crate) fn find_local(segments: &[Segment], bytes: [u8; 2]) -> Option<usize> {
    segments.iter().position(|segment| segment.has_local_id(bytes))
}

/// Whether a function's local ids are a prefix code.
pub(super) fn are_distinct(segments: &[Segment]) -> bool {
    let mut seen = HashSet::new();
    let mut first_bytes = [0; 1 << u8::BITS];
    for segment in segments.iter().filter(|segment| segment.local_id != 0) {
        let first_byte = usize::from(segment.local_id as u8);
        let length = segment.local_id_length();
        let is_as_long = [0, length].contains(&first_bytes[first_byte]);
        // An id of one byte was seen if its byte was.
        let is_seen = match length {
            1 => first_bytes[first_byte] != 0,
            _ => !seen.insert(segment.local_id),
        };
        first_bytes[first_byte] = length;
        if first_byte == 0 || !is_as_long || is_seen {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(ids: &[u16]) -> Vec<Segment> {
        let segment = |local_id: &u16| Segment {
            local_id: *local_id,
            ..Segment::default()
        };
        ids.iter().map(segment).collect()
    }

    #[test]
    fn ids_are_a_prefix_code() {
        let distinct = |ids: &[u16]| are_distinct(&segments(ids));
        assert!(distinct(&[]));
        assert!(distinct(&[0, 1, 255, 0, 0x107, 0x207, 0xfffe]));
        assert!(!distinct(&[1, 1]));
        assert!(!distinct(&[0x107, 0x107]));
        assert!(!distinct(&[7, 0x107]));
        assert!(!distinct(&[0x107, 7]));
        assert!(!distinct(&[0x100]));
    }

    #[test]
    fn a_segment_is_found_by_its_bytes() {
        let segments = segments(&[0, 5, 0x107, 0x207]);
        let found = |bytes| find_local(&segments, bytes);
        assert_eq!(found([5, 9]), Some(1));
        assert_eq!(found([7, 1]), Some(2));
        assert_eq!(found([7, 2]), Some(3));
        assert_eq!(found([7, 0]), None);
        assert_eq!(found([0, 0]), None);
        assert_eq!(found([0, 5]), None);
    }
}
