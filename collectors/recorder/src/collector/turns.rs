//! The turns of buffers: a stream's buffers are taken in their order, whatever the ring says.

use super::{Collector, Description};
use crate::abi;

/// Buffers of a stream that may be missing before one that is believed.
const MOST_MISSING: u64 = 1 << 16;

pub enum Turn {
    Now,
    /// Its turn is now, and so many buffers before it are lost.
    After(u64),
    /// An earlier buffer may have become full unnoticed by `collect`.
    Later,
    /// It was taken already, or its number can't be.
    Never,
}

impl Collector<'_> {
    pub(super) fn turn(&self, index: usize, buffer: &Description) -> Turn {
        let was_put_off = self.put_off.contains(&(index, buffer.sequence));
        let state = self.streams.get(&buffer.stream);
        let next = match buffer.kind {
            abi::KIND_RECORDS => state.map_or(0, |state| state.next_records),
            abi::KIND_ORACLE_RECORDS => state.map_or(0, |state| state.next_oracle),
            abi::KIND_ALLOCATIONS => state.map_or(0, |state| state.next_allocations),
            abi::KIND_DEFINITIONS => self
                .code
                .get(&buffer.image)
                .map_or(0, |code| code.next_definitions),
            abi::KIND_MODULE => self.modules.next_sequence(buffer.module_key()),
            abi::KIND_COUNTS if self.earlier_node_is_full(buffer) => return Turn::Later,
            _ => return Turn::Now,
        };
        match buffer.sequence.checked_sub(next) {
            Some(0) => Turn::Now,
            // A thread hands one buffer over before it takes the next: so what was there is seen the second time.
            Some(missing) if missing <= MOST_MISSING => match was_put_off {
                true if buffer.kind == abi::KIND_MODULE => Turn::Never, // a part of it is of no use
                true => Turn::After(missing),
                false => Turn::Later,
            },
            _ => Turn::Never,
        }
    }
}
