//! What is lost since the program overwrote words of the ring: counted, and noted in the trace as gaps.

use trackway_trace::GapReason;

use super::{Collector, Description};
use crate::abi;

impl Collector<'_> {
    /// Discards a buffer whose description can't be a runtime's.
    pub(super) fn discard_damaged(&mut self, index: usize, buffer: &Description) {
        if self.ring.take(index) {
            self.ring.discard(index, self.ring.buffer_size());
        }
        self.note_damage(buffer, 1);
    }

    /// So many buffers are lost before, or with, this one.
    pub(super) fn note_damage(&mut self, buffer: &Description, buffers: u64) {
        self.totals.damaged = self.totals.damaged.saturating_add(buffers);
        let is_of_stream = !buffer.tells_of_code() && buffer.kind != abi::KIND_MAPPINGS;
        // Streams that are otherwise unknown would only be further damage.
        if is_of_stream && self.streams.contains_key(&buffer.stream) {
            self.push_gap(buffer.stream, buffers, GapReason::Damaged);
        } else {
            self.totals.is_damaged = true;
        }
    }

    /// Counts buffers that never had their turn. Damage that is no stream's is noted with the first stream.
    pub(super) fn finish_damage(&mut self) {
        // What threads hand over once the recorder has left was copied.
        let left = match self.has_left {
            true => 0,
            false => self.ring.full_words().count() as u64,
        };
        self.totals.damaged = self.totals.damaged.saturating_add(left);
        self.totals.is_damaged |= left > 0 || self.ring.is_damaged();
        if self.totals.is_damaged {
            let first = self.streams.keys().copied().min().unwrap_or(0);
            self.push_gap(first, left, GapReason::Damaged);
        }
        self.totals.is_damaged |= self.totals.damaged > 0;
    }
}
