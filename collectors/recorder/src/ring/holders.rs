//! Which processes keep a window open, since threads of theirs are in regions of interest.

use std::mem::offset_of;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::{Cause, Ring};
use crate::abi::{self, Holders, Regions, RingHeader};

/// An entry of the ring's table, as it was. Any value is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionHolder {
    entry: usize,
    word: u64,
}

impl RegionHolder {
    pub fn pid(&self) -> u32 {
        (self.word >> 32) as u32
    }
}

impl Ring {
    fn holders(&self) -> &[AtomicU64] {
        &self
            .part::<Holders>(offset_of!(RingHeader, holders))
            .region_holders
    }

    fn regions_open(&self) -> &AtomicU32 {
        &self.part::<Regions>(offset_of!(RingHeader, regions)).regions_open
    }

    /// Nobody is in a region.
    pub(super) fn forget_region_holders(&self) {
        self.regions_open().store(0, Relaxed);
        for word in self.holders() {
            word.store(0, Relaxed);
        }
    }

    /// The processes that are in regions.
    pub fn region_holders(&self) -> Vec<RegionHolder> {
        let words = self.holders().iter().map(|word| word.load(SeqCst));
        let holders = words
            .enumerate()
            .map(|(entry, word)| RegionHolder { entry, word });
        holders.filter(|holder| holder.word != 0).collect()
    }

    /// Whether a process is about to leave the last region.
    pub fn regions_are_locked(&self) -> bool {
        self.regions_open().load(SeqCst) & abi::REGIONS_LOCKED != 0
    }

    /// For processes that are gone: what they held is held no more, and where nobody else is in a region, their window
    /// closes. The table isn't locked, or its lock belongs to one of them.
    pub fn release_regions(&self, gone: &[RegionHolder]) {
        self.regions_open().fetch_or(abi::REGIONS_LOCKED, SeqCst);
        for holder in gone {
            // Else another process has taken the entry.
            let word = &self.holders()[holder.entry];
            let _ = word.compare_exchange(holder.word, 0, SeqCst, Relaxed);
        }
        let is_held = self.regions_open().load(SeqCst) & !abi::REGIONS_LOCKED != 0
            || self.holders().iter().any(|word| word.load(SeqCst) != 0);
        if !is_held && self.has_regions() {
            self.end_window(Cause::Region);
        }
        self.regions_open().fetch_and(!abi::REGIONS_LOCKED, SeqCst);
    }

    #[cfg(test)]
    pub fn hold_regions(&self, entry: usize, pid: u32, count: u32) {
        self.holders()[entry].store(u64::from(pid) << 32 | u64::from(count), SeqCst);
    }

    #[cfg(test)]
    pub fn lock_regions(&self) {
        self.regions_open().fetch_or(abi::REGIONS_LOCKED, SeqCst);
    }
}
