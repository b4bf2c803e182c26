//! Buffers of counts: each a thread's in one region.

use std::mem::offset_of;

use trackway_trace::{ChunkFields, ChunkKind};

use super::{Collector, Description};
use crate::abi::{self, Counts};
use crate::encoding::Payload;

/// Regions whose names are told apart in the summary.
const MOST_REGIONS: usize = 1 << 16;

/// Bytes of a node that was swept: at least its head, and whole counters. What is missing at the end is 0.
fn swept_length(written: usize) -> usize {
    match written {
        0 => 0,
        _ => written
            .next_multiple_of(size_of::<u64>())
            .max(size_of::<Counts>()),
    }
}

/// The image of the process that the node names. It differs from the buffer's if the node was never described, or was
/// handed over after it had been taken.
fn image(node: &[u8]) -> Option<u32> {
    let at = offset_of!(Counts, image);
    let bytes = node.get(at..at + size_of::<u32>())?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// The name of a node's region; empty if it is none's.
fn region(node: &[u8]) -> &[u8] {
    let name = node
        .get(offset_of!(Counts, name)..size_of::<Counts>())
        .unwrap_or_default();
    let end = name.iter().position(|&byte| byte == 0);
    &name[..end.unwrap_or(name.len())]
}

impl Collector<'_> {
    /// A thread hands over all of its nodes at once, and some of them may have been missed. No node waits for one that
    /// isn't full: it may never have been described.
    pub(super) fn earlier_node_is_full(&self, buffer: &Description) -> bool {
        let taken = self.streams.get(&buffer.stream).map_or(0, |state| state.nodes);
        buffer.sequence > taken
            && self.ring.full_words().any(|(_, other)| {
                other.kind == abi::KIND_COUNTS
                    && other.stream == buffer.stream
                    && other.sequence < buffer.sequence
            })
    }

    pub(super) fn take_node(&mut self, index: usize, buffer: &Description) {
        let process = self.process_number(buffer);
        let mut bytes = match buffer.is_abandoned() {
            true => self.ring.moved_out_written(index, self.ring.buffer_size()),
            false => self.ring.moved_out(index, buffer.length),
        };
        if buffer.is_abandoned() {
            bytes.resize(swept_length(bytes.len()).min(self.ring.buffer_size()), 0);
        }
        if image(&bytes) != Some(buffer.image.image) {
            return;
        }
        let Some(bytes) = self.counted_in_windows(buffer, bytes) else {
            return;
        };
        self.note_dropped(buffer, process);
        let state = self.stream_state(buffer.stream, process);
        let fields = ChunkFields {
            kind: ChunkKind::Counts,
            flags: buffer.chunk_flags(),
            process,
            stream: buffer.stream,
            // Not the buffer's: nodes may be missing.
            sequence: state.nodes,
            first_ns: buffer.first_ns,
            last_ns: match buffer.is_abandoned() {
                true => self.clock.now_ns(),
                false => buffer.last_ns,
            },
        };
        self.note_node(buffer.stream, &bytes);
        self.queue.push(fields, Payload::Bytes(bytes));
    }

    fn note_node(&mut self, stream: u32, bytes: &[u8]) {
        if let Some(state) = self.streams.get_mut(&stream) {
            self.totals.counts.threads += u64::from(state.nodes == 0);
            state.nodes += 1;
        }
        self.totals.counts.nodes += 1;
        let name = region(bytes);
        let has_room = self.regions.len() < MOST_REGIONS;
        if !name.is_empty() && has_room && self.regions.insert(name.to_vec()) {
            self.totals.counts.regions += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swept_nodes_have_a_head_and_whole_counters() {
        assert_eq!([0, 1, 256, 257, 264].map(swept_length), [0, 256, 256, 264, 264]);
    }

    #[test]
    fn names_end_with_a_zero_or_with_the_head() {
        let mut node = [0; 264];
        assert_eq!(region(&node), b"");
        node[72..77].copy_from_slice(b"solve");
        assert_eq!(region(&node), b"solve");
        node[72..].fill(b'x');
        assert_eq!(region(&node).len(), 184);
        assert_eq!(region(&node[..100]), b"");
        assert_eq!((image(&node), image(&node[..15])), (Some(0), None));
    }
}
