//! What the parts of a machine cost one of its cores.

use crate::model::cache::{Caches, Page, HUGE_PAGE_BYTES, MAX_LEVELS, MAX_TLB_LEVELS};

/// Levels that can serve an access: the caches, and memory.
pub(super) const SERVING: usize = MAX_LEVELS + 1;

/// Lines that a prefetcher may be ahead of the program before the program waits for memory.
pub(super) const AHEAD: f64 = 16.0;

/// What memory costs one core of a machine. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// From a load to the use of its value, by level; memory comes after the last cache.
    pub latency_ns: [f64; SERVING],
    /// Time per line where independent loads stream from that level.
    pub line_ns: [f64; SERVING],
    /// A miss of each level of the TLB, beyond the access.
    pub translation_ns: [f64; MAX_TLB_LEVELS],
    /// The first access to a page of 4 KiB, which the system then provides.
    pub small_fault_ns: f64,
    pub page_bytes: u64,
    /// Time until a core has a line that another one has just written.
    pub transfer_ns: f64,
    /// Independent misses that overlap.
    pub most_misses: f64,
    /// Page tables that are walked at once.
    pub most_walks: f64,
    /// From where a branch is known to have been guessed wrong until other instructions enter.
    pub wrong_branch_ns: f64,
    /// Instructions in flight.
    pub window: f64,
    /// Cycles in a nanosecond.
    pub ghz: f64,
    /// Time per instruction of code that waits for nothing.
    pub instruction_ns: f64,
    /// From where a value to be stored is known until a load of the same word has it.
    pub forward_ns: f64,
    /// A call that takes a block from the system's allocator, or gives it back: of one that was given back just before, and
    /// of another one.
    pub allocation_ns: [f64; 2],
}

/// Pages that nobody accessed before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NewPages {
    huge: u64,
    others: u64,
}

impl NewPages {
    pub fn note(&mut self, page: Page) {
        match page.is_huge() {
            true => self.huge += 1,
            false => self.others += 1,
        }
    }

    pub fn count(self) -> u64 {
        self.huge + self.others
    }

    /// How long the system takes to provide them.
    pub fn fault_ns(self, costs: &Costs, memory: usize) -> f64 {
        self.huge as f64 * costs.fault_ns(HUGE_PAGE_BYTES, memory)
            + self.others as f64 * costs.fault_ns(costs.page_bytes, memory)
    }
}

const SMALL_PAGE_BYTES: u64 = 4096;
const LINE_BYTES: u64 = 64;

impl Costs {
    /// The first access to a page of so many bytes. The system fills a larger one with zeros, at memory's rate.
    fn fault_ns(&self, page_bytes: u64, memory: usize) -> f64 {
        let more = page_bytes.saturating_sub(SMALL_PAGE_BYTES) / LINE_BYTES;
        self.small_fault_ns + more as f64 * self.line_ns[memory]
    }

    /// The place of memory among the levels of these caches.
    pub(super) fn memory(caches: &Caches) -> usize {
        caches.levels().len()
    }
}
