//! Decoded events, and the marks that say where they stand among accesses.

use crate::{AllocationSiteId, FunctionId, LocationId, Synchronisation};

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
    /// A point of the order between threads. What the thread did before it precedes it; what the thread does after it
    /// follows it. Of two points of different threads, the one with the smaller time came first.
    Order {
        synchronisation: Synchronisation,
        location: LocationId,
        /// Address of the object by which the threads synchronise; 0 if there is none.
        address: u64,
        /// CLOCK_MONOTONIC nanoseconds.
        time_ns: u64,
    },
    /// From here on the thread is in `depth` regions of interest, of which the last one has that name; in the others as
    /// before.
    Region {
        depth: u64,
        /// [`region_hash`](crate::region_hash) of the name; 0 at depth 0.
        name: u64,
    },
    /// The function was entered.
    Enter(FunctionId),
    /// The function is about to return.
    Exit(FunctionId),
}

impl Event {
    /// Whether a block of memory begins, ends or moves.
    pub fn is_of_memory(&self) -> bool {
        matches!(
            self,
            Event::Allocate { .. } | Event::Reallocate { .. } | Event::Free { .. }
        )
    }

    /// Whether this is an allocation that failed: it is at address 0, or for `mmap` at -1.
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

    /// The address and the bytes of the memory that was allocated, by itself or in place of other memory; none if that failed.
    pub fn allocated(&self) -> Option<(u64, u64)> {
        match *self {
            _ if self.allocation_failed() => None,
            Event::Allocate {
                address,
                element_size,
                count,
                ..
            }
            | Event::Reallocate {
                new_address: address,
                element_size,
                count,
                ..
            } => Some((address, element_size.saturating_mul(count))),
            _ => None,
        }
    }
}

/// Where an event stands among the accesses of its batch; [`Batch::event`](crate::Batch::event) says which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Mark {
    /// Index, in the batch, of the access that follows the event; the number of accesses if none follows.
    pub before: u32,
    /// A kind in the upper bits; below, the function or an index into [`Batch::events`](crate::Batch::events).
    pub(crate) what: u32,
}

const ENTER: u32 = 0;
const EXIT: u32 = 1 << 30;
const OTHER: u32 = 2 << 30;
/// Another event, which lies outside of the trace's slice.
const OUTSIDE: u32 = 3 << 30;
const KIND_MASK: u32 = 3 << 30;

impl Mark {
    /// Fills places without a mark.
    pub(crate) const NONE: Mark = Mark { before: 0, what: 0 };

    /// The same event, if so many more accesses stand before it.
    #[inline(always)]
    pub(crate) fn moved(self, accesses: u32) -> Mark {
        Mark {
            before: self.before.wrapping_add(accesses),
            what: self.what,
        }
    }

    pub(crate) fn enter(before: u32, function: FunctionId) -> Mark {
        let what = ENTER | function.0 & !KIND_MASK;
        Mark { before, what }
    }

    pub(crate) fn exit(before: u32, function: FunctionId) -> Mark {
        let what = EXIT | function.0 & !KIND_MASK;
        Mark { before, what }
    }

    /// The mark of a batch's event number `index`.
    pub(crate) fn other(before: u32, index: usize) -> Mark {
        let what = OTHER | index as u32;
        Mark { before, what }
    }

    /// Whether the event is neither an entry nor an exit of a function.
    #[inline(always)]
    pub(crate) fn is_other(self) -> bool {
        self.what & OTHER != 0
    }

    /// The same mark of an event that is neither an entry nor an exit, as one outside of the slice.
    pub(crate) fn outside(self) -> Mark {
        Mark {
            what: self.what | OUTSIDE,
            ..self
        }
    }

    /// Whether the event lies outside of the trace's slice.
    #[inline(always)]
    pub fn is_outside(self) -> bool {
        self.what & KIND_MASK == OUTSIDE
    }

    /// Which event it stands for, in a batch that has these other events.
    #[inline(always)]
    pub(crate) fn event(self, others: &[Event]) -> Event {
        let number = self.what & !KIND_MASK;
        match self.what & KIND_MASK {
            ENTER => Event::Enter(FunctionId(number)),
            EXIT => Event::Exit(FunctionId(number)),
            _ => others[number as usize],
        }
    }
}
