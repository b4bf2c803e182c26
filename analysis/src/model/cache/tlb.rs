//! The data TLB of a core.

use super::entry::Entry;
use super::replacement::Lru;
use super::store::{LineStore, Sets};
use super::{Caches, Outcome, Policy, TlbTotals, MAX_TLB_LEVELS};

/// Levels of LRU sets of pages. A page that a level misses is looked up in the next one and enters the level.
#[derive(Debug, Clone)]
pub(super) struct Tlb {
    levels: Vec<Sets<Lru>>,
    page_shift: u32,
    /// The page touched last.
    latest: Option<u64>,
}

impl Tlb {
    pub fn new(caches: &Caches) -> Tlb {
        let level = |tlb: &super::TlbLevel| Sets::new(tlb.geometry(caches.page_bytes()), Policy::Lru);
        Tlb {
            levels: caches.tlbs().iter().map(level).collect(),
            page_shift: caches.page_bytes().trailing_zeros(),
            latest: None,
        }
    }

    /// Looks up all pages from `address` to `end`. Returns whether that may have changed something.
    #[inline(always)]
    pub fn access(
        &mut self,
        address: u64,
        end: u64,
        totals: &mut [TlbTotals; MAX_TLB_LEVELS],
        outcome: &mut Outcome,
    ) -> bool {
        let (first, last) = (address >> self.page_shift, end >> self.page_shift);
        if first == last && Some(first) == self.latest {
            return false;
        }
        let mut missed = false;
        for page in first..=last {
            missed |= self.look_up(page, totals, outcome);
        }
        self.latest = Some(last);
        missed
    }

    /// Returns whether the first level missed the page.
    fn look_up(
        &mut self,
        page: u64,
        totals: &mut [TlbTotals; MAX_TLB_LEVELS],
        outcome: &mut Outcome,
    ) -> bool {
        let mut missed = 0;
        for (level, lines) in self.levels.iter_mut().enumerate() {
            totals[level].lookups += u64::from(level > 0);
            if lines.look_up(page).is_some() {
                break;
            }
            totals[level].misses += 1;
            outcome.tlb_misses[level] += 1;
            missed += 1;
        }
        for lines in &mut self.levels[..missed] {
            lines.insert(Entry::new(page, 0));
        }
        missed > 0
    }
}
