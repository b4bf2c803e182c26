//! The middle of a large trace, for answers that needn't rest on all of it.

use trackway_trace::{ChunkKind, ChunkRef, Trace};

use super::{SliceRequest, When};

/// Options name moments by thousandths of a percent.
const STEPS_OF_A_PERCENT: f64 = 1000.0;

/// A part of a recording, from and to percents of its duration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    from: f64,
    to: f64,
}

impl Middle {
    /// About so many bytes of records from the middle of the trace: of its bytes, not of its time, in which most of the
    /// records may have come early. At least one chunk. None if the trace isn't larger, or has no records.
    pub fn of(trace: &Trace, bytes: u64) -> Option<Middle> {
        if trace.file_length() <= bytes {
            return None;
        }
        let streams = trace.streams().iter();
        let chunks = streams.flat_map(|stream| &stream.chunks);
        let mut chunks: Vec<&ChunkRef> = chunks
            .filter(|chunk| chunk.header.kind == ChunkKind::Records)
            .collect();
        chunks.sort_by_key(|chunk| chunk.header.first_ns);
        let [first, last] = middle(&chunks, bytes)?;
        let (begin_ns, end_ns) = trace.span_ns();
        let percent = |ns: u64| {
            let part = ns.saturating_sub(begin_ns) as f64 / end_ns.saturating_sub(begin_ns).max(1) as f64;
            part.min(1.0) * 100.0 * STEPS_OF_A_PERCENT
        };
        Some(Middle {
            from: percent(first.header.first_ns).floor() / STEPS_OF_A_PERCENT,
            to: percent(last.header.last_ns.saturating_add(1)).ceil() / STEPS_OF_A_PERCENT,
        })
    }

    /// Its part of the run's time.
    pub fn share(self) -> f64 {
        (self.to - self.from) / 100.0
    }

    pub fn request(self) -> SliceRequest {
        SliceRequest {
            from: Some(When::Percent(self.from)),
            to: Some(When::Percent(self.to)),
            ..SliceRequest::default()
        }
    }

    /// The options that ask for it.
    pub fn options(self) -> [String; 2] {
        [format!("--from={}%", self.from), format!("--to={}%", self.to)]
    }
}

/// The first and the last of the chunks around the middle byte that have so many bytes together.
fn middle<'c>(chunks: &[&'c ChunkRef], bytes: u64) -> Option<[&'c ChunkRef; 2]> {
    let all = ChunkRef::stored_bytes(chunks.iter().copied());
    let begin = all.saturating_sub(bytes) / 2;
    let end = begin.saturating_add(bytes).min(all);
    let mut before = 0;
    let mut found: Option<[&ChunkRef; 2]> = None;
    for chunk in chunks {
        let after = before + u64::from(chunk.header.stored_length);
        let has_middle = before <= all / 2 && all / 2 < after;
        if has_middle || (begin <= before && after <= end) {
            let first = found.map_or(*chunk, |[first, _]| first);
            found = Some([first, chunk]);
        }
        before = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{ChunkFields, ChunkHeader, Codec};

    fn chunk(sequence: u64, stored_length: u32) -> ChunkRef {
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Records)
        };
        let header = ChunkHeader {
            stored_length,
            ..ChunkHeader::new(&fields, Codec::None, stored_length, &[])
        };
        ChunkRef { header, offset: 0 }
    }

    fn numbers(lengths: &[u32], bytes: u64) -> Option<[u64; 2]> {
        let chunks: Vec<ChunkRef> = (0..)
            .zip(lengths)
            .map(|(number, length)| chunk(number, *length))
            .collect();
        let chunks: Vec<&ChunkRef> = chunks.iter().collect();
        middle(&chunks, bytes).map(|found| found.map(|chunk| chunk.header.sequence))
    }

    #[test]
    fn the_middle_goes_by_bytes() {
        assert_eq!(numbers(&[10; 10], 40), Some([3, 6]));
        assert_eq!(
            numbers(&[10, 10, 10, 10, 60], 20),
            Some([4, 4]),
            "a chunk that is larger than asked for"
        );
        assert_eq!(numbers(&[100, 1, 1, 1], 4), Some([0, 0]));
        assert_eq!(numbers(&[], 4), None);
    }
}
