//! When a chunk was filled.

use std::ops::Range;

use crate::ChunkRef;

/// The times between which all accesses and events of a chunk took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub begin_ns: u64,
    /// Not before `begin_ns`.
    pub end_ns: u64,
}

impl Span {
    /// `before_ns`: the end of the chunk before it in its stream. Time doesn't go back within a stream; for an unknown
    /// time stands the next one that is known.
    pub fn of(chunk: &ChunkRef, before_ns: u64) -> Span {
        let header = &chunk.header;
        let first_ns = match header.first_ns {
            0 => header.last_ns,
            first_ns => first_ns,
        };
        let begin_ns = first_ns.max(before_ns);
        Span {
            begin_ns,
            end_ns: header.last_ns.max(begin_ns),
        }
    }

    /// Whether all of it is in the range.
    pub fn is_within(self, range: &Range<u64>) -> bool {
        range.start <= self.begin_ns && self.end_ns < range.end
    }

    /// Whether any of it may be in the range.
    pub fn touches(self, range: &Range<u64>) -> bool {
        range.start <= self.end_ns && self.begin_ns < range.end
    }
}
