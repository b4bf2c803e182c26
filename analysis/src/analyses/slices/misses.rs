//! Misses of all accesses together.

use std::ops::Range;

use trackway_trace::{Batch, Piece};

use super::Site;
use crate::model::cache::{Access, Accounts, Caches, Missed, MAX_LEVELS};

/// The owner of all misses, as these are counted together.
const ALL: u32 = 0;

/// Caches of threads, and what the accesses since the last stretch missed.
pub(super) struct Misses {
    caches: Option<Accounts>,
    missed: [u64; MAX_LEVELS],
}

impl Misses {
    pub fn new(caches: &Caches) -> Misses {
        Misses {
            caches: Accounts::new(caches),
            missed: [0; MAX_LEVELS],
        }
    }

    pub fn take(&mut self, batch: &Batch, sites: &[Site], piece: &Piece) {
        let Some(caches) = &mut self.caches else {
            return;
        };
        let core = caches.core_of(batch.stream);
        let count = |miss: Missed| self.missed[miss.level] += miss.lines;
        match piece {
            Piece::Accesses(range) => simulate(caches, core, (batch, range.clone()), sites, count),
            Piece::Run(run) => {
                let lanes = batch.lanes(run);
                let of_lane = |lane: usize| (ALL, sites[lanes[lane].site.index()].writes);
                caches.take_run(core, (lanes, run.count), of_lane, count);
            }
        }
    }

    /// What was missed since the last time.
    pub fn settle(&mut self) -> [u64; MAX_LEVELS] {
        if let Some(caches) = &mut self.caches {
            caches.settle(|miss| self.missed[miss.level] += miss.lines);
        }
        std::mem::take(&mut self.missed)
    }
}

fn simulate(
    caches: &mut Accounts,
    core: usize,
    (batch, accesses): (&Batch, Range<usize>),
    sites: &[Site],
    mut count: impl FnMut(Missed),
) {
    for index in accesses {
        let site = batch.site[index].index();
        let access = Access {
            core,
            site,
            address: batch.address[index],
            length: batch.length(index),
            is_write: sites[site].writes,
        };
        caches.take(ALL, &access, &mut count);
    }
}
