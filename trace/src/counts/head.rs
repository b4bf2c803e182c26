//! The payload of a chunk of counts.
//!
//! ```text
//!  0 node u32 | 4 parent u32 | 8 thread u32 | 12 image u32 | 16 entries u64 | 24 counted_entries u64
//! 32 counted_ticks u64 | 40 timed_entries u64 | 48 timed_ticks u64 | 56 entered_ticks u64 | 64 flags u64
//! 72 name 136 bytes | 208 measured_entries u64 | 216 hardware_entries u64 | 224 hardware u64 x 4
//! 256 counters u64...
//! ```

use crate::bytes::{u32_at, u64_at};

/// Bytes before the counters.
pub const NODE_HEAD_LENGTH: usize = 256;
/// Flag: the entry that was not left is counted.
pub const COUNTED_ENTRY: u64 = 1;
/// Flag: it is no region's, and counted all the time.
pub const WHOLE_PROGRAM: u64 = 2;

/// Flag: ticks are nanoseconds of CLOCK_MONOTONIC, whatever the trace's clock is.
pub const NANOSECONDS: u64 = 4;

/// Flag: another thread entered the region; its stream and node are in bits 32 to 63 and 16 to 31.
pub const INHERITED: u64 = 8;

const NAME: std::ops::Range<usize> = 72..208;
const HARDWARE_ENTRIES: usize = 216;
const HARDWARE: usize = 224;
/// Hardware events that a recording counts at most.
pub const HARDWARE_EVENTS: usize = 4;

/// What a chunk of counts holds: a thread in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Number of the node in its stream.
    pub node: u32,
    /// Number of the node within which it was entered.
    pub parent: u32,
    /// The kernel's id of the thread.
    pub thread: u32,
    pub image: u32,
    /// All entries, whether or not they were counted or timed.
    pub entries: u64,
    /// Entries that were counted, and left.
    pub counted_entries: u64,
    pub counted_ticks: u64,
    /// Entries that were timed without being counted, and left.
    pub timed_entries: u64,
    pub timed_ticks: u64,
    /// When it was entered, if it was not left; else 0.
    pub entered_ticks: u64,
    /// [`COUNTED_ENTRY`], [`WHOLE_PROGRAM`], [`NANOSECONDS`] and [`INHERITED`]; the node's group in bits 8 to 15.
    pub flags: u64,
    /// Name of the region, cut off after 136 bytes.
    pub name: String,
    /// Entries around which hardware events were counted.
    pub measured_entries: u64,
    /// Entries that the measured ones represent.
    pub hardware_entries: u64,
    /// Sums of the hardware events, in the order of the recording's events.
    pub hardware: [u64; HARDWARE_EVENTS],
    /// Counters of the image, as far as they were stored; the others are 0.
    pub counters: Vec<u64>,
}

impl NodeCounts {
    /// Reads a payload; what is missing at its end is 0.
    pub fn from_bytes(payload: &[u8]) -> Self {
        let mut head = [0; NODE_HEAD_LENGTH];
        let (stored, counters) = payload.split_at(payload.len().min(NODE_HEAD_LENGTH));
        head[..stored.len()].copy_from_slice(stored);
        let name = &head[NAME];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        NodeCounts {
            node: u32_at(&head, 0),
            parent: u32_at(&head, 4),
            thread: u32_at(&head, 8),
            image: u32_at(&head, 12),
            entries: u64_at(&head, 16),
            counted_entries: u64_at(&head, 24),
            counted_ticks: u64_at(&head, 32),
            timed_entries: u64_at(&head, 40),
            timed_ticks: u64_at(&head, 48),
            entered_ticks: u64_at(&head, 56),
            flags: u64_at(&head, 64),
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            measured_entries: u64_at(&head, NAME.end),
            hardware_entries: u64_at(&head, HARDWARE_ENTRIES),
            hardware: std::array::from_fn(|event| u64_at(&head, HARDWARE + event * 8)),
            counters: counters.chunks(8).map(counter).collect(),
        }
    }

    /// The payload.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(NODE_HEAD_LENGTH + self.counters.len() * 8);
        for number in [self.node, self.parent, self.thread, self.image] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for number in [
            self.entries,
            self.counted_entries,
            self.counted_ticks,
            self.timed_entries,
            self.timed_ticks,
            self.entered_ticks,
            self.flags,
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let name = self.name.as_bytes();
        bytes.extend_from_slice(&name[..name.len().min(NAME.len())]);
        bytes.resize(NAME.end, 0);
        let hardware = [self.measured_entries, self.hardware_entries]
            .into_iter()
            .chain(self.hardware);
        for number in hardware.chain(self.counters.iter().copied()) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Adds what a later chunk says of the same node.
    pub(super) fn add(&mut self, later: NodeCounts) {
        for (sum, more) in [
            (&mut self.entries, later.entries),
            (&mut self.counted_entries, later.counted_entries),
            (&mut self.counted_ticks, later.counted_ticks),
            (&mut self.timed_entries, later.timed_entries),
            (&mut self.timed_ticks, later.timed_ticks),
            (&mut self.measured_entries, later.measured_entries),
            (&mut self.hardware_entries, later.hardware_entries),
        ] {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in self.hardware.iter_mut().zip(later.hardware) {
            *sum = sum.saturating_add(more);
        }
        self.entered_ticks = later.entered_ticks;
        self.flags = later.flags;
        if self.counters.len() < later.counters.len() {
            self.counters.resize(later.counters.len(), 0);
        }
        for (sum, more) in self.counters.iter_mut().zip(later.counters) {
            *sum = sum.wrapping_add(more);
        }
    }
}

/// The last one may lack bytes.
fn counter(bytes: &[u8]) -> u64 {
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> NodeCounts {
        NodeCounts {
            node: 3,
            parent: 1,
            thread: 4711,
            image: 0x1234_5678,
            entries: 10,
            counted_entries: 5,
            counted_ticks: 600,
            timed_entries: 4,
            timed_ticks: 1000,
            entered_ticks: 77,
            flags: COUNTED_ENTRY,
            name: "solve".into(),
            measured_entries: 2,
            hardware_entries: 3,
            hardware: [1, 2, 3, u64::MAX],
            counters: vec![7, 0, 1 << 40],
        }
    }

    #[test]
    fn a_payload_survives() {
        assert_eq!(NodeCounts::from_bytes(&node().to_bytes()), node());
        let long = NodeCounts {
            name: "x".repeat(200),
            ..node()
        };
        let expected = NodeCounts {
            name: "x".repeat(136),
            ..node()
        };
        assert_eq!(NodeCounts::from_bytes(&long.to_bytes()), expected);
    }

    #[test]
    fn what_is_missing_at_the_end_is_0() {
        let bytes = node().to_bytes();
        assert_eq!(NodeCounts::from_bytes(&[]), NodeCounts::default());
        let head = NodeCounts::from_bytes(&bytes[..20]);
        assert_eq!((head.thread, head.entries, head.name.as_str()), (4711, 10, ""));
        // The last counter's upper bytes are 0.
        assert_eq!(NodeCounts::from_bytes(&bytes[..bytes.len() - 2]), node());
        assert_eq!(NodeCounts::from_bytes(&bytes[..258]).counters, [7]);
    }

    #[test]
    fn later_chunks_add_to_a_node() {
        let mut sum = node();
        sum.add(NodeCounts {
            entered_ticks: 0,
            flags: 0,
            counters: vec![u64::MAX, 1, 0, 2],
            ..node()
        });
        assert_eq!((sum.entries, sum.counted_ticks, sum.entered_ticks), (20, 1200, 0));
        assert_eq!(sum.counters, [6, 1, 1 << 40, 2]);
        assert_eq!((sum.measured_entries, sum.hardware_entries), (4, 6));
        assert_eq!(sum.hardware, [2, 4, 6, u64::MAX]);
    }
}
