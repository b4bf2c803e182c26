//! Data that each thread has for itself: the same accesses at addresses of the thread's own.

use std::collections::HashSet;

use trackway_trace::{AccessKind, Batch, Program, SiteId};

use super::simulate::{each_access, Output, PlainSites};
use super::Rewrite;

/// Where copies lie: far from a program's own memory.
const FIRST: u64 = 1 << 45;
/// Bits of the address within a thread's area.
const AREA_BITS: u32 = 36;
/// Bits of the number of a thread's area.
const THREAD_BITS: u32 = 8;

/// Rewrites the accesses of some sites.
#[derive(Debug, Clone)]
pub(super) struct Private {
    is_own: Vec<bool>,
    /// By site: whether it is an atomic update, which needn't be one where no other thread looks.
    is_update: Vec<bool>,
    plain: PlainSites,
}

impl Private {
    /// `without_atomics`: atomic updates become loads and stores.
    pub fn new(program: &Program, sites: &HashSet<SiteId>, without_atomics: bool) -> Private {
        let numbers = || (0..program.sites.len() as u32).map(SiteId);
        let is_update =
            |site: SiteId| without_atomics && program.site(site).kind == AccessKind::AtomicReadModifyWrite;
        Private {
            is_own: numbers().map(|site| sites.contains(&site)).collect(),
            is_update: numbers().map(is_update).collect(),
            plain: PlainSites::of(program),
        }
    }

    fn access(&self, stream: u32, (site, address, length): (SiteId, u64, u64), to: &mut Output) {
        if !self.is_own[site.index()] {
            return to.access(site, address, length);
        }
        let address = place(stream, address);
        if self.is_update[site.index()] {
            to.access(self.plain.load, address, length);
            return to.access(self.plain.store, address, length);
        }
        to.access(site, address, length);
    }
}

/// The thread's copy of an address.
fn place(stream: u32, address: u64) -> u64 {
    let thread = u64::from(stream) & ((1 << THREAD_BITS) - 1);
    FIRST | thread << AREA_BITS | address & ((1 << AREA_BITS) - 1)
}

impl Rewrite for Private {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        for item in batch.all_items_of_slice() {
            let Some(piece) = to.accesses_of(item) else {
                continue;
            };
            each_access(batch, piece, |access| self.access(batch.stream, access, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_addresses_of_their_own_on_the_same_place_of_a_line() {
        let address = 0x7fff_1234_5678;
        let places: HashSet<u64> = (0..4).map(|stream| place(stream, address)).collect();
        assert_eq!(places.len(), 4);
        assert!(places
            .iter()
            .all(|place| place % 4096 == address % 4096 && *place >= FIRST));
        assert_eq!(place(1, address), place(1, address));
    }
}
