//! How far the buffers of a stream have been taken.

use super::{Collector, Description};
use crate::abi;

#[derive(Default)]
pub(super) struct StreamState {
    pub process: u32,
    /// Sequence of the next buffer of records, of the oracle's, and of calls of allocators.
    pub next_records: u64,
    pub next_oracle: u64,
    pub next_allocations: u64,
    /// Nodes that were taken.
    pub nodes: u64,
    pub gaps: u64,
    pub dropped: u64,
}

impl StreamState {
    fn only_records(&self) -> bool {
        self.nodes == 0 && self.next_oracle == 0 && self.next_allocations == 0
    }

    /// Nothing is missing where the stream ends: what was counted by then stands in its nodes.
    pub fn only_counts(&self) -> bool {
        self.nodes > 0 && self.next_records == 0 && self.next_oracle == 0 && self.next_allocations == 0
    }
}

impl Collector<'_> {
    /// A stream that has ended and lacks nothing: of a program that makes threads all the time there would be more and more.
    pub(super) fn forget_if_over(&mut self, buffer: &Description) {
        let is_over = buffer.kind == abi::KIND_RECORDS && buffer.is_last() && !self.ring.dumps_oracle();
        let lacks_nothing = |state: &StreamState| state.only_records() && state.gaps == 0;
        if is_over && self.streams.get(&buffer.stream).is_some_and(lacks_nothing) {
            self.streams.remove(&buffer.stream);
        }
    }
}
