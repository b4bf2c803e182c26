//! The TLBs of a core.

use trackway_analysis::cache::{Caches, Outcome, TlbTotals, MAX_TLB_LEVELS};

pub struct NaiveTlb {
    page_bytes: u64,
    levels: Vec<TlbLevel>,
}

struct TlbLevel {
    sets: u64,
    ways: usize,
    /// Pages from the least to the most recently used.
    used: Vec<u64>,
}

impl NaiveTlb {
    pub fn new(caches: &Caches) -> NaiveTlb {
        let level = |tlb: &trackway_analysis::cache::TlbLevel| TlbLevel {
            sets: (tlb.entries / tlb.ways).into(),
            ways: tlb.ways as usize,
            used: Vec::new(),
        };
        NaiveTlb {
            page_bytes: caches.page_bytes(),
            levels: caches.tlbs().iter().map(level).collect(),
        }
    }

    pub fn access(
        &mut self,
        first: u64,
        last: u64,
        totals: &mut [TlbTotals; MAX_TLB_LEVELS],
        outcome: &mut Outcome,
    ) {
        for page in first / self.page_bytes..=last / self.page_bytes {
            for (index, level) in self.levels.iter_mut().enumerate() {
                totals[index].lookups += u64::from(index > 0);
                if level.hit(page) {
                    break;
                }
                totals[index].misses += 1;
                outcome.tlb_misses[index] += 1;
            }
        }
    }
}

impl TlbLevel {
    fn hit(&mut self, page: u64) -> bool {
        let hit = self.used.contains(&page);
        self.used.retain(|&other| other != page);
        self.used.push(page);
        let (sets, set) = (self.sets, page % self.sets);
        let of_set = |other: &&u64| **other % sets == set;
        if self.used.iter().filter(of_set).count() > self.ways {
            let oldest = self.used.iter().position(|other| of_set(&other)).unwrap();
            self.used.remove(oldest);
        }
        hit
    }
}
