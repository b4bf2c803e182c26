//! Decoded events in columns.

use crate::{AllocationSiteId, FunctionId, SiteId};

/// Something between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `count` × `element_size` bytes were allocated at `address`; see [`Event::allocation_failed`].
    Allocate {
        site: AllocationSiteId,
        address: u64,
        element_size: u64,
        count: u64,
    },
    /// The allocation at `address` was given back.
    Free { site: AllocationSiteId, address: u64 },
    /// The allocation at `old_address` became `count` × `element_size` bytes at `new_address`.
    Reallocate {
        site: AllocationSiteId,
        old_address: u64,
        new_address: u64,
        element_size: u64,
        count: u64,
    },
    /// The function was entered.
    Enter(FunctionId),
    /// The function is about to return.
    Exit(FunctionId),
}

impl Event {
    /// Whether this is an allocation that failed: at address 0, or at -1 where `mmap` was asked.
    pub fn allocation_failed(&self) -> bool {
        match self {
            Event::Allocate { address, .. }
            | Event::Reallocate {
                new_address: address, ..
            } => {
                matches!(*address, 0 | u64::MAX)
            }
            _ => false,
        }
    }
}

/// An event and its place among the accesses of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Index, in the batch, of the access that follows the event; the number of accesses if none follows.
    pub before: u32,
    pub event: Event,
}

/// A block access that is longer than a `u32` can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongBlock {
    /// Index of the access in its batch.
    pub index: u32,
    /// Length in bytes.
    pub length: u64,
}

/// A sequence of successive accesses and events of one thread, in program order. The three columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub site: Vec<SiteId>,
    pub address: Vec<u64>,
    /// Bytes accessed; `u32::MAX` for a block of at least that length, see [`Batch::length`].
    pub size: Vec<u32>,
    /// Events, in program order.
    pub marks: Vec<Mark>,
    /// The blocks whose length does not fit into `size`, in order.
    pub long_blocks: Vec<LongBlock>,
    pub process: u32,
    pub stream: u32,
    /// Position of the chunk in its stream.
    pub sequence: u64,
    /// When the program took the chunk's buffer, CLOCK_MONOTONIC nanoseconds; 0 if unknown.
    pub first_ns: u64,
    /// When the program handed the chunk's buffer over.
    pub last_ns: u64,
    /// In the last batches of a chunk that was swept from a thread which never handed it over: index of the first access
    /// of the last record. It and the later ones were about to happen, but may not have happened. If that record is a
    /// long loop, several batches have nothing else.
    pub uncertain_from: Option<u32>,
}

impl Batch {
    /// Number of accesses.
    #[inline]
    pub fn len(&self) -> usize {
        self.address.len()
    }

    /// Whether the batch holds neither an access nor an event.
    pub fn is_empty(&self) -> bool {
        self.address.is_empty() && self.marks.is_empty()
    }

    /// Bytes accessed by access number `index`, exactly.
    #[inline]
    pub fn length(&self, index: usize) -> u64 {
        match self.size[index] {
            u32::MAX => self.long_length(index),
            size => u64::from(size),
        }
    }

    #[cold]
    fn long_length(&self, index: usize) -> u64 {
        match self
            .long_blocks
            .binary_search_by_key(&index, |block| block.index as usize)
        {
            Ok(position) => self.long_blocks[position].length,
            Err(_) => u64::from(u32::MAX),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.site.clear();
        self.address.clear();
        self.size.clear();
        self.marks.clear();
        self.long_blocks.clear();
        self.uncertain_from = None;
    }
}
