//! The data TLB of a core.

use super::entry::Entry;
use super::replacement::Lru;
use super::store::{LineStore, Sets};
use super::{Caches, Outcome, Page, Pages, Policy, TlbTotals, MAX_TLB_LEVELS};

/// Levels of LRU sets of pages. A page that a level misses is looked up in the next one and enters the level.
#[derive(Debug, Clone)]
pub(super) struct Tlb {
    levels: Vec<Sets<Lru>>,
    pages: Pages,
    /// The page touched last, by its number if none is huge.
    latest: Option<u64>,
}

impl Tlb {
    pub fn new(caches: &Caches) -> Tlb {
        let level = |tlb: &super::TlbLevel| Sets::new(tlb.geometry(caches.page_bytes()), Policy::Lru);
        Tlb {
            levels: caches.tlbs().iter().map(level).collect(),
            pages: caches.pages(),
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
        let (first, last) = (self.pages.plain_number(address), self.pages.plain_number(end));
        if first == last && Some(first) == self.latest {
            return false;
        }
        let mut missed = false;
        for page in self.pages.between(address, end) {
            missed |= look_up(&mut self.levels, page, totals, outcome);
        }
        self.latest = Some(last);
        missed
    }
}

/// Returns whether the first level missed the page.
fn look_up(
    levels: &mut [Sets<Lru>],
    Page(page): Page,
    totals: &mut [TlbTotals; MAX_TLB_LEVELS],
    outcome: &mut Outcome,
) -> bool {
    let mut missed = 0;
    for (level, lines) in levels.iter_mut().enumerate() {
        totals[level].lookups += u64::from(level > 0);
        if lines.look_up(page).is_some() {
            break;
        }
        totals[level].misses += 1;
        outcome.tlb_misses[level] += 1;
        missed += 1;
    }
    for lines in &mut levels[..missed] {
        lines.insert(Entry::new(page, 0));
    }
    missed > 0
}
